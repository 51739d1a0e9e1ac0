#include "importer/strace_line.h"

#include <algorithm>
#include <charconv>

#include "importer/words.h"

namespace dyetrace::importer {
namespace {

constexpr std::uint64_t kTaskMax = 1u << 22;  // a larger number is a time

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

void skip_blanks(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

std::optional<std::uint64_t> take_number(std::string_view& text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

// Digits after a point as nanoseconds.
std::uint64_t take_fraction(std::string_view& text) {
    if (!text.starts_with('.') || text.size() < 2 || !is_digit(text[1])) {
        return 0;
    }
    text.remove_prefix(1);
    std::uint64_t ns = 0, unit = kSecondNs / 10;
    for (; !text.empty() && is_digit(text[0]); text.remove_prefix(1)) {
        ns += static_cast<std::uint64_t>(text[0] - '0') * unit;
        unit /= 10;
    }
    return ns;
}

// "4702  " or "[pid  4702] ", where a number that is a time is none.
void take_task(std::string_view& text, StraceLine& line) {
    std::string_view rest = text;
    if (rest.starts_with("[pid ")) {
        rest.remove_prefix(5);
        skip_blanks(rest);
        const auto task = take_number(rest);
        if (task && *task <= kTaskMax && rest.starts_with("] ")) {
            line.task = static_cast<std::uint32_t>(*task);
            text = rest.substr(2);
        }
        return;
    }
    const auto task = take_number(rest);
    if (task && *task <= kTaskMax && rest.starts_with(' ')) {
        line.task = static_cast<std::uint32_t>(*task);
        text = rest;
    }
}

bool take_time_of_day(std::string_view& text, StraceLine& line) {
    std::string_view rest = text;
    const auto hours = take_number(rest);
    if (!hours || !rest.starts_with(':')) {
        return false;
    }
    rest.remove_prefix(1);
    const auto minutes = take_number(rest);
    if (!minutes || !rest.starts_with(':')) {
        return false;
    }
    rest.remove_prefix(1);
    const auto seconds = take_number(rest);
    if (!seconds || *hours > 23 || *minutes > 59 || *seconds > 60) {
        return false;
    }
    line.time_ns = ((*hours * 60 + *minutes) * 60 + *seconds) * kSecondNs + take_fraction(rest);
    line.time_is = StraceTime::kDay;
    text = rest;
    return true;
}

void take_time(std::string_view& text, StraceLine& line) {
    skip_blanks(text);
    if (take_time_of_day(text, line)) {
        skip_blanks(text);
        return;
    }
    std::string_view rest = text;
    const auto seconds = take_number(rest);
    if (!seconds || !(rest.starts_with('.') || rest.starts_with(' ')) || *seconds > 8'000'000'000) {
        return;
    }
    constexpr std::uint64_t kEpochSecondsMin = 100'000'000;  // 1973; no two calls are as far apart
    line.time_is = *seconds >= kEpochSecondsMin ? StraceTime::kEpoch : StraceTime::kRelative;
    line.time_ns = *seconds * kSecondNs + take_fraction(rest);
    text = rest;
    skip_blanks(text);
}

// " <0.000036>" at the end.
void take_duration(std::string_view& text, StraceLine& line) {
    const std::size_t open = text.rfind(" <");
    if (open == std::string_view::npos || !text.ends_with('>')) {
        return;
    }
    std::string_view inside = text.substr(open + 2, text.size() - open - 3);
    const auto seconds = take_number(inside);
    if (!seconds || !inside.starts_with('.') || *seconds > 1'000'000'000) {
        return;
    }
    const std::uint64_t ns = *seconds * kSecondNs + take_fraction(inside);
    if (inside.empty()) {
        line.took_ns = ns;
        text = text.substr(0, open);
    }
}

void read_end(std::string_view text, StraceLine& line) {
    constexpr std::string_view kExited = "exited with ", kKilled = "killed by ",
                               kReplaced = "superseded by execve in pid ";
    text = text.substr(4, text.size() - 8);
    for (const auto& [words, kind] : {std::pair(kExited, StraceKind::kExited),
                                      std::pair(kKilled, StraceKind::kKilled),
                                      std::pair(kReplaced, StraceKind::kReplaced)}) {
        if (text.starts_with(words)) {
            line.kind = kind;
            line.text = text.substr(words.size());
        }
    }
}

void read_signal(std::string_view text, StraceLine& line) {
    text = text.substr(4, text.size() - 8);
    if (text.starts_with("stopped by ")) {
        line.kind = StraceKind::kMessage;
        return;
    }
    const std::size_t blank = std::min(text.find(' '), text.size());
    line.name = text.substr(0, blank);
    line.text = text.substr(std::min(blank + 1, text.size()));
    line.kind = line.name.starts_with("SIG") ? StraceKind::kSignal : StraceKind::kUnreadable;
}

void read_call(std::string_view text, StraceLine& line) {
    constexpr std::string_view kUnfinished = "<unfinished ...>", kResumed = " resumed>";
    if (text.starts_with("<... ")) {
        const std::size_t end = text.find(kResumed);
        if (end == std::string_view::npos) {
            return;
        }
        line.name = text.substr(5, end - 5);
        line.text = text.substr(end + kResumed.size());
        line.kind = StraceKind::kEnds;
        return;
    }
    const auto open = static_cast<std::size_t>(
        std::find_if_not(text.begin(), text.end(), is_in_name) - text.begin());
    if (open == 0 || open == text.size() || text[open] != '(') {
        return;
    }
    line.name = text.substr(0, open);
    line.text = text;
    if (text.ends_with(kUnfinished)) {
        line.kind = StraceKind::kBegins;
        line.text.remove_suffix(kUnfinished.size());
    } else if (end_of_arguments(text, open) != std::string_view::npos) {
        line.kind = StraceKind::kCall;
    }
}

// "[  59] " of -n, "[00007f1234567890] " of -i.
void skip_bracket(std::string_view& text) {
    const std::size_t close = text.find("] ");
    if (text.starts_with('[') && close != std::string_view::npos && close < 24 &&
        std::all_of(
            text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(close), [](char c) {
                return is_digit(c) || (c >= 'a' && c <= 'f') || c == ' ' || c == '?';
            })) {
        text.remove_prefix(close + 2);
    }
}

bool is_talk(std::string_view text) {
    return text.starts_with("strace: ") || text.starts_with("Process ") || text.starts_with("> ");
}

}  // namespace

StraceLine parse_strace_line(std::string_view text) {
    StraceLine line;
    while (text.ends_with('\r') || text.ends_with(' ')) {
        text.remove_suffix(1);
    }
    skip_blanks(text);
    if (is_talk(text)) {
        line.kind = StraceKind::kMessage;
        return line;
    }
    take_task(text, line);
    take_time(text, line);
    skip_bracket(text);
    if (text.starts_with("+++ ") && text.ends_with(" +++") && text.size() > 8) {
        read_end(text, line);
        return line;
    }
    if (text.starts_with("--- ") && text.ends_with(" ---") && text.size() > 8) {
        read_signal(text, line);
        return line;
    }
    if (is_talk(text)) {
        line.kind = StraceKind::kMessage;
        return line;
    }
    take_duration(text, line);
    read_call(text, line);
    return line;
}

std::size_t end_of_decoration(std::string_view text, std::size_t open) {
    std::size_t depth = 0;
    bool may_have_arrow = false;  // TCP:[a->b], and never a path
    for (std::size_t at = open; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '\\') {
            ++at;
        } else if (c == '<') {
            ++depth;
        } else if (c == '[') {
            may_have_arrow = true;
        } else if (c == '>' && !(may_have_arrow && text[at - 1] == '-') && --depth == 0) {
            return at;
        }
    }
    return text.size();
}

std::size_t end_of_arguments(std::string_view text, std::size_t open) {
    std::size_t depth = 0;
    for (std::size_t at = open; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '"') {  // to the quote that ends it
            for (++at; at < text.size() && text[at] != '"'; ++at) {
                at += text[at] == '\\' ? 1 : 0;
            }
        } else if (c == '/' && text.substr(at).starts_with("/*")) {
            const std::size_t end = text.find("*/", at + 2);
            at = end == std::string_view::npos ? text.size() : end + 1;
        } else if (c == '<' && at > open && is_in_name(text[at - 1]) &&
                   !text.substr(at).starts_with("<<")) {
            at = end_of_decoration(text, at);
        } else if (c == '(' || c == '[' || c == '{') {
            ++depth;
        } else if ((c == ')' || c == ']' || c == '}') && --depth == 0) {
            return at;
        }
    }
    return std::string_view::npos;
}

}  // namespace dyetrace::importer
