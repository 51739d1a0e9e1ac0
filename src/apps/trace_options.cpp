#include "apps/trace_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace dyetrace::apps {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

Error refuse(std::string message) {
    return Error(ErrorCode::kInvalidArgument, std::move(message));
}

constexpr TraceOption kOptions[] = {
    {'e',
     "trace",
     "CALLS",
     "Only these calls: names, groups (%file %network %desc %memory %process %signal %ipc %creds "
     "%clock %stat), /regex; all but these: !CALLS. `-e status=SET` is --status=SET"},
    {0, "status", "SET", "Only calls that ended so: successful, failed, unfinished"},
    {'z', "successful-only", "", "Only calls that succeeded"},
    {'Z', "failed-only", "", "Only calls that failed"},
    {'P', "trace-path", "PATH", "Only calls on this path or glob; may be repeated"},
    {'p', "attach", "PID[,PID]", "Watch these processes, all their threads and later children"},
    {'f', "follow-forks", "", "Watch the children of the command too"},
    {'y', "", "", "Name descriptors by their paths; -yy: sockets by their ends too"},
    {0, "decode-fds", "WHAT", "The same in a word: none, path, all"},
    {'t', "", "", "Time of day; -tt: with microseconds; -ttt: in seconds since 1970"},
    {'r', "relative-timestamps", "", "Time since the call before"},
    {'T', "syscall-times", "", "Time that each call took"},
    {'s', "string-limit", "N", "Bytes of strings to show (default: 32)"},
    {'o', "output", "FILE", "Write there instead of to stderr"},
    {'c', "summary-only", "", "A table of calls instead of the lines"},
    {'C', "summary", "", "A table of calls after the lines"},
    {0, "json", "", "One object per line, on stdout, with the columns of the table `events`"},
    {0, "color", "WHEN", "Colours: auto, always, never (default: auto)"},
    {'h', "help", "", "Show this text"},
};

// Of strace, too: taken and without effect here, or refused because they change the program or the table.
constexpr std::string_view kIgnoredFlags = "qvwDA";
constexpr std::string_view kIgnoredWithValue = "aIOX";
constexpr std::string_view kRefusedWithValue = "bEuSU";

template <typename Key>
const TraceOption* option_of(Key TraceOption::*key, Key value) {
    const auto* found = std::ranges::find(kOptions, value, key);
    return found == std::end(kOptions) ? nullptr : found;
}

bool takes_value(char letter) {
    const TraceOption* option = option_of(&TraceOption::letter, letter);
    return option == nullptr ? (kIgnoredWithValue.find(letter) != std::string_view::npos ||
                                kRefusedWithValue.find(letter) != std::string_view::npos)
                             : !option->value.empty();
}

template <typename Number>
Result<Number> parse_number(std::string_view text, std::string_view what) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) {
        return refuse(fmt::format("'{}' is no {}", text, what));
    }
    return number;
}

template <typename Take>
Result<void> for_each_word(std::string_view list, Take take) {
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        if (comma > 0) {
            TRY(take(list.substr(0, comma)));
        }
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return {};
}

Result<StatusSet> parse_statuses(std::string_view list) {
    const bool negated = list.starts_with('!');
    list.remove_prefix(negated ? 1 : 0);
    StatusSet set{.successful = negated, .failed = negated, .unfinished = negated};
    TRY(for_each_word(list, [&](std::string_view word) -> Result<void> {
        if (word == "all") {
            set = StatusSet{!negated, !negated, !negated};
        } else if (word == "successful") {
            set.successful = !negated;
        } else if (word == "failed") {
            set.failed = !negated;
        } else if (word == "unfinished" || word == "unavailable" || word == "detached") {
            set.unfinished = !negated;
        } else if (word != "none") {
            return refuse(fmt::format("'{}' is no status: successful, failed, unfinished", word));
        }
        return {};
    }));
    return set;
}

// One word, or two, of the command line at a time.
class Parser {
  public:
    explicit Parser(const std::vector<std::string>& words) : words_(words) {}

    Result<TraceOptions> parse() {
        while (at_ < words_.size()) {
            const std::string& word = words_[at_];
            if (word == "--") {
                ++at_;
                break;
            }
            if (word.size() < 2 || word[0] != '-') {
                break;
            }
            ++at_;
            if (word[1] == '-') {
                TRY(take_long(std::string_view(word).substr(2)));
            } else {
                TRY(take_cluster(std::string_view(word).substr(1)));
            }
        }
        options_.command.assign(words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end());
        return finish();
    }

  private:
    Result<TraceOptions> finish() {
        if (options_.help) {
            return std::move(options_);
        }
        if (options_.command.empty() == options_.processes.empty()) {
            return refuse(options_.command.empty()
                              ? "say what to trace: a command, or processes with -p"
                              : "a command and -p at once: take one of them");
        }
        static constexpr format::TimeStyle kTimes[] = {format::TimeStyle::kNone,
                                                       format::TimeStyle::kSeconds,
                                                       format::TimeStyle::kMicroseconds,
                                                       format::TimeStyle::kUnix};
        if (options_.style.time == format::TimeStyle::kNone) {
            options_.style.time = kTimes[std::min(times_, 3)];
        }
        options_.style.names = names_ == 0   ? format::Names::kNone
                               : names_ == 1 ? format::Names::kPaths
                                             : format::Names::kAll;
        options_.follow =
            options_.follow ||
            !options_.processes.empty();  // all threads of a process, as -p says in strace with -f
        return std::move(options_);
    }

    Result<void> take_cluster(std::string_view letters) {
        for (std::size_t i = 0; i < letters.size(); ++i) {
            const char letter = letters[i];
            if (!takes_value(letter)) {
                TRY(take_flag(letter));
                continue;
            }
            std::string_view value = letters.substr(i + 1);
            if (value.empty()) {
                TRY(value, next_word(fmt::format("-{}", letter)));
            }
            return take_value(letter, value);
        }
        return {};
    }

    Result<std::string_view> next_word(std::string_view option) {
        if (at_ == words_.size()) {
            return refuse(fmt::format("{} wants a value", option));
        }
        return std::string_view(words_[at_++]);
    }

    Result<void> take_flag(char letter) {
        switch (letter) {
            case 'f':
                options_.follow = true;
                return {};
            case 't':
                ++times_;
                return {};
            case 'y':
                ++names_;
                return {};
            case 'T':
                options_.style.duration = true;
                return {};
            case 'r':
                options_.style.time = format::TimeStyle::kRelative;
                return {};
            case 'c':
                options_.form = TraceForm::kSummary;
                return {};
            case 'C':
                options_.form = TraceForm::kLinesAndSummary;
                return {};
            case 'z':
                options_.statuses = {.successful = true, .failed = false, .unfinished = false};
                return {};
            case 'Z':
                options_.statuses = {.successful = false, .failed = true, .unfinished = false};
                return {};
            case 'h':
                options_.help = true;
                return {};
            default:
                if (kIgnoredFlags.find(letter) == std::string_view::npos) {
                    return refuse(fmt::format("-{} is not known (dyetrace trace --help)", letter));
                }
                return {};
        }
    }

    Result<void> take_value(char letter, std::string_view value) {
        switch (letter) {
            case 'e':
                return take_expression(value);
            case 'o':
                options_.output = value;
                return {};
            case 'P':
                options_.paths.emplace_back(value);
                return {};
            case 's': {
                TRY(options_.style.limits.text_max,
                    parse_number<std::size_t>(value, "number of bytes"));
                return {};
            }
            case 'p':
                return for_each_word(value, [&](std::string_view word) -> Result<void> {
                    TRY(const std::int32_t process, parse_number<std::int32_t>(word, "process"));
                    options_.processes.push_back(process);
                    return {};
                });
            default:
                if (kRefusedWithValue.find(letter) != std::string_view::npos) {
                    return refuse(fmt::format(
                        "-{} would change the program or the table; dyetrace cannot", letter));
                }
                return {};
        }
    }

    Result<void> take_expression(std::string_view expression) {
        const std::size_t equals = expression.find('=');
        if (equals == std::string_view::npos) {
            return take_calls(expression);
        }
        const std::string_view name = expression.substr(0, equals);
        const std::string_view value = expression.substr(equals + 1);
        if (name == "trace" || name == "t") {
            return take_calls(value);
        }
        if (name == "status") {
            TRY(options_.statuses, parse_statuses(value));
            return {};
        }
        if (name == "signal" || name == "signals" || name == "s" || name == "quiet" ||
            name == "q" || name == "abbrev" || name == "a" || name == "verbose" || name == "v" ||
            name == "raw" || name == "x") {
            return {};
        }
        if (name == "decode-fds" || name == "decode-fd") {
            names_ = value == "none" ? 0 : value == "path" ? 1 : 2;
            return {};
        }
        return refuse(
            fmt::format("-e {}=… would need to stop the program; dyetrace only watches", name));
    }

    Result<void> take_calls(std::string_view list) {
        TRY(options_.calls, CallSet::parse(list));
        return {};
    }

    Result<void> take_long(std::string_view word) {
        const std::size_t equals = word.find('=');
        const std::string_view name = word.substr(0, equals);
        const TraceOption* option = option_of(&TraceOption::name, name);
        if (option == nullptr || name.empty()) {
            return refuse(fmt::format("--{} is not known (dyetrace trace --help)", name));
        }
        if (option->value.empty()) {
            if (equals != std::string_view::npos) {
                return refuse(fmt::format("--{} takes no value", name));
            }
            return option->letter == 0 ? take_long_flag() : take_flag(option->letter);
        }
        std::string_view value;
        if (equals != std::string_view::npos) {
            value = word.substr(equals + 1);
        } else {
            TRY(value, next_word(fmt::format("--{}", name)));
        }
        return option->letter == 0 ? take_long_value(name, value)
                                   : take_value(option->letter, value);
    }

    Result<void> take_long_flag() {  // --json is the only one without a letter
        options_.form = TraceForm::kJson;
        return {};
    }

    Result<void> take_long_value(std::string_view name, std::string_view value) {
        return name == "color" ? take_colour(value)
                               : take_expression(fmt::format("{}={}", name, value));
    }

    Result<void> take_colour(std::string_view value) {
        if (value == "always") {
            options_.colour = format::ColourMode::kAlways;
        } else if (value == "never") {
            options_.colour = format::ColourMode::kNever;
        } else if (value != "auto") {
            return refuse(fmt::format("--color is auto, always or never, not '{}'", value));
        }
        return {};
    }

    const std::vector<std::string>& words_;
    std::size_t at_ = 0;
    int times_ = 0;
    int names_ = 0;
    TraceOptions options_;
};

}  // namespace

Result<TraceOptions> parse_trace_options(const std::vector<std::string>& words) {
    return Parser(words).parse();
}

std::span<const TraceOption> trace_options() {
    return kOptions;
}

}  // namespace dyetrace::apps
