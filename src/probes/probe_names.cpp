#include "probes/probe_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>

#include "base/amounts.h"
#include "base/check.h"
#include "base/harmless.h"
#include "base/sql_literal.h"
#include "base/text.h"
#include "probes/near_names.h"

namespace dyetrace::probes {
namespace {

struct ProbeForm {
    ProbeKind kind;
    std::string_view word;
    std::size_t arguments_min, arguments_max;
    std::string_view takes;
    std::string_view example;
};

// In the order of ProbeKind.
constexpr ProbeForm kProbeForms[] = {
    {ProbeKind::kKernelFunction,
     "kernel_function",
     1,
     1,
     "one argument",
     "kernel_function('vfs_read')"},
    {ProbeKind::kTracepoint,
     "tracepoint",
     1,
     2,
     "one or two arguments",
     "tracepoint('sched:sched_switch')"},
    {ProbeKind::kUserFunction,
     "user_function",
     2,
     2,
     "two arguments",
     "user_function('postgres', 'exec_simple_query')"},
    {ProbeKind::kUsdt,
     "usdt",
     2,
     3,
     "two or three arguments",
     "usdt('postgres', 'transaction__start')"},
    {ProbeKind::kTimer, "timer", 1, 1, "one argument", "timer('10ms')"},
    {ProbeKind::kSample, "sample", 1, 1, "one argument", "sample(99)"}};

const ProbeForm& form_of(ProbeKind kind) {
    const auto place = static_cast<std::size_t>(kind);
    CHECK(place < std::size(kProbeForms) && kProbeForms[place].kind == kind);
    return kProbeForms[place];
}

Error bad_probe(std::string message) {
    return Error(ErrorCode::kInvalidArgument, std::move(message));
}

// Words, numbers, texts and marks of a probe's name, from left to right.
class ProbeReader {
  public:
    explicit ProbeReader(std::string_view text) : text_(text) {}

    std::string word() {
        skip_blanks();
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_of_a_word(text_[at_])) {
            ++at_;
        }
        return std::string(text_.substr(begin, at_ - begin));
    }

    bool take(char mark) {
        skip_blanks();
        const bool is_there = at_ < text_.size() && text_[at_] == mark;
        at_ += is_there ? 1 : 0;
        return is_there;
    }

    // 'it''s', or digits as they are. None: neither is here, or the quote does not end.
    std::optional<std::string> argument() {
        if (!take('\'')) {
            std::string digits = word();
            const bool is_number =
                !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos;
            return is_number ? std::optional(std::move(digits)) : std::nullopt;
        }
        std::string argument;
        for (; at_ < text_.size(); ++at_) {
            if (text_[at_] == '\'') {
                ++at_;
                if (at_ == text_.size() || text_[at_] != '\'') {
                    return argument;
                }
            }
            argument.push_back(text_[at_]);
        }
        return std::nullopt;
    }

    bool is_at_end() {
        skip_blanks();
        return at_ == text_.size();
    }
    std::size_t character() const { return at_ + 1; }

  private:
    static bool is_of_a_word(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    }
    void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size()); }

    std::string_view text_;
    std::size_t at_ = 0;
};

Result<const ProbeForm*> form_called(const std::string& word) {
    std::vector<std::string_view> words;
    for (const ProbeForm& form : kProbeForms) {
        if (form.word == base::lower(word)) {
            return &form;
        }
        words.push_back(form.word);
    }
    const std::string near = perhaps(base::lower(word), words);
    return bad_probe(
        near.empty()
            ? fmt::format("there is no probe '{}': it is one of {}", word, fmt::join(words, ", "))
            : fmt::format("there is no probe '{}'{}", word, near));
}

Result<std::vector<std::string>> read_arguments(ProbeReader& reader, const ProbeForm& form) {
    const auto misread = [&](std::string_view what) {
        return bad_probe(fmt::format(
            "at character {}: {} is missing, as in {}", reader.character(), what, form.example));
    };
    std::vector<std::string> arguments;
    if (!reader.take('(')) {
        return misread("(");
    }
    do {
        std::optional<std::string> argument = reader.argument();
        if (!argument) {
            return misread("a text in single quotes");
        }
        arguments.push_back(std::move(*argument));
    } while (arguments.size() <= form.arguments_max && reader.take(','));
    if (arguments.size() < form.arguments_min || arguments.size() > form.arguments_max) {
        return bad_probe(fmt::format("{} takes {}, as in {}", form.word, form.takes, form.example));
    }
    if (!reader.take(')')) {
        return misread(")");
    }
    if (!reader.is_at_end()) {
        return bad_probe(
            fmt::format("at character {}: something stands after the probe", reader.character()));
    }
    return arguments;
}

// Names become parts of paths and messages, and C strings.
Result<void> check_plain(const std::vector<std::string>& arguments) {
    for (const std::string& each : arguments) {
        if (each.empty() || each != base::make_harmless(each)) {
            return bad_probe(fmt::format(
                "'{}' is no name: {}",
                base::make_harmless(each),
                each.empty() ? "it is empty" : "it has characters that cannot be seen"));
        }
    }
    return {};
}

Result<void> split_tracepoint(ProbeName& name) {
    std::string& first = name.arguments[0];
    const std::size_t colon = first.find(':');
    if (name.arguments.size() == 1 && colon != first.npos) {
        std::string event = first.substr(colon + 1);
        first.resize(colon);
        name.arguments.push_back(std::move(event));
    }
    const bool is_good =
        name.arguments.size() == 2 &&
        std::all_of(name.arguments.begin(), name.arguments.end(), [](const std::string& each) {
            return !each.empty() && each.find(':') == each.npos;
        });
    if (!is_good) {
        return bad_probe(
            "a tracepoint has a category and a name, as in "
            "tracepoint('sched:sched_switch')");
    }
    return {};
}

Result<void> check_timer(const std::string& period) {
    TRY(const std::chrono::nanoseconds duration, base::parse_duration(period));
    if (duration < kTimerMin || duration > kTimerMax) {
        return bad_probe(fmt::format("a timer of '{}' is not between 1ms and 24h", period));
    }
    return {};
}

unsigned frequency_in(const std::string& text) {
    unsigned hz = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, hz);
    return error == std::errc() && rest == end ? hz : 0;
}

}  // namespace

Result<ProbeName> parse_probe_name(std::string_view text) {
    if (text.size() > kProbeNameBytesMax) {
        return bad_probe(fmt::format("a probe's name has at most {} bytes", kProbeNameBytesMax));
    }
    ProbeReader reader(text);
    const std::string word = reader.word();
    if (word.empty()) {
        return bad_probe(
            fmt::format("a probe begins with its kind, as in {}", kProbeForms[0].example));
    }
    TRY(const ProbeForm* form, form_called(word));
    ProbeName name;
    name.kind = form->kind;
    TRY(name.arguments, read_arguments(reader, *form));
    TRY(check_plain(name.arguments));
    if (name.kind == ProbeKind::kTracepoint) {
        TRY(split_tracepoint(name));
    } else if (name.kind == ProbeKind::kTimer) {
        TRY(check_timer(name.arguments[0]));
    } else if (name.kind == ProbeKind::kSample) {
        const unsigned hz = frequency_in(name.arguments[0]);
        if (hz == 0 || hz > kSampleHzMax) {
            return bad_probe(
                fmt::format("'{}' is no frequency: write 1 to {} times a second, as "
                            "in sample(99)",
                            name.arguments[0],
                            kSampleHzMax));
        }
        name.arguments[0] = fmt::format("{}", hz);
    }
    return name;
}

std::string to_text(const ProbeName& name) {
    const std::string_view word = form_of(name.kind).word;
    if (name.kind == ProbeKind::kSample) {
        return fmt::format("{}({})", word, name.arguments[0]);
    }
    if (name.kind == ProbeKind::kTracepoint) {
        return fmt::format(
            "{}({})", word, base::quoted_sql(name.arguments[0] + ":" + name.arguments[1]));
    }
    std::vector<std::string> quoted;
    for (const std::string& each : name.arguments) {
        quoted.push_back(base::quoted_sql(each));
    }
    return fmt::format("{}({})", word, fmt::join(quoted, ", "));
}

std::chrono::nanoseconds timer_period(const ProbeName& name) {
    return base::parse_duration(name.arguments[0]).value();
}

unsigned sample_hz(const ProbeName& name) {
    return frequency_in(name.arguments[0]);
}

}  // namespace dyetrace::probes
