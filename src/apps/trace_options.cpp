#include "apps/trace_options.h"

#include <fmt/format.h>

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
            constexpr std::string_view kWithValue = "eopsPaIbEuOSUX";
            if (kWithValue.find(letter) == std::string_view::npos) {
                TRY(take_flag(letter));
                continue;
            }
            std::string_view value = letters.substr(i + 1);
            if (value.empty()) {
                if (at_ == words_.size()) {
                    return refuse(fmt::format("-{} wants a value", letter));
                }
                value = words_[at_++];
            }
            return take_value(letter, value);
        }
        return {};
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
            case 'q':
            case 'v':
            case 'w':
            case 'D':
            case 'A':
                return {};
            default:
                return refuse(fmt::format("-{} is not known (dyetrace trace --help)", letter));
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
            case 'a':
            case 'I':
            case 'O':
            case 'X':
                return {};
            default:
                return refuse(fmt::format(
                    "-{} would change the program or the table; dyetrace cannot", letter));
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
        const std::string_view value =
            equals == std::string_view::npos ? std::string_view{} : word.substr(equals + 1);
        static constexpr std::pair<std::string_view, char> kFlags[] = {{"follow-forks", 'f'},
                                                                       {"summary-only", 'c'},
                                                                       {"summary", 'C'},
                                                                       {"successful-only", 'z'},
                                                                       {"failed-only", 'Z'},
                                                                       {"help", 'h'},
                                                                       {"syscall-times", 'T'}};
        static constexpr std::pair<std::string_view, char> kValues[] = {
            {"output", 'o'}, {"attach", 'p'}, {"string-limit", 's'}, {"trace-path", 'P'}};
        for (const auto& [known, letter] : kFlags) {
            if (known == name && value.empty()) return take_flag(letter);
        }
        for (const auto& [known, letter] : kValues) {
            if (known == name && !value.empty()) return take_value(letter, value);
        }
        if (name == "json") {
            options_.form = TraceForm::kJson;
            return {};
        }
        if (name == "color" || name == "colour") {
            return take_colour(value);
        }
        if (name == "trace" || name == "status" || name == "decode-fds") {
            return take_expression(value.empty() ? std::string_view("decode-fds=all") : word);
        }
        return refuse(fmt::format("--{} is not known (dyetrace trace --help)", name));
    }

    Result<void> take_colour(std::string_view value) {
        if (value == "always" || value.empty()) {
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

const char* trace_help() {
    return R"(Shows system calls as they happen, as strace does but without stopping anybody
Usage: dyetrace trace [options] [--] COMMAND [ARGS]
       dyetrace trace [options] -p PID[,PID]...

  -e CALLS           only these: names, groups (%file %network %desc %memory %process
                     %signal %ipc %creds %clock %stat), /regex, all but: !CALLS
  -e status=SET      only these results: successful, failed, unfinished;  -z  -Z
  -P PATH            only calls on this path (or glob); may be repeated
  -f                 follow children          -p PID      a process with all its threads
  -y  -yy            name descriptors; sockets by their ends
  -t -tt -ttt -r -T  time of day, with microseconds, since 1970; since the last; time taken
  -s N               bytes of strings (32)    -o FILE     instead of stderr
  -c  -C             a table of calls instead of, or after, the lines
  --json             one object per line with the columns of the table `events`
  --color=WHEN       auto, always, never

  dyetrace trace -e file -- ls
  dyetrace trace -f -yy -T -e '!futex,poll' -p 4711
  dyetrace trace -Z -e %network -- curl https://example.org
)";
}

}  // namespace dyetrace::apps
