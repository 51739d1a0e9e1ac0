#include "filter/text_match.h"

#include <cstddef>

namespace dyetrace::filter {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

bool continues_character(char c) {
    return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u;
}

// Where an element of a pattern ends and where the text ends that it takes; `text` is kNone where it takes none.
struct Step {
    std::size_t text = kNone;
    std::size_t pattern = 0;
};

// One element of a LIKE pattern (not %) against the text at `t`.
Step like_step(std::string_view text,
               std::size_t t,
               std::string_view pattern,
               std::size_t p,
               std::optional<char> escape) {
    const bool plain = pattern[p] == escape;
    p += plain ? 1 : 0;
    if (p == pattern.size()) {
        return {};
    }
    if (!plain && pattern[p] == '_') {
        t += 1;
        while (t < text.size() && continues_character(text[t])) {
            t += 1;
        }
        return {t, p + 1};
    }
    return {text[t] == pattern[p] ? t + 1 : kNone, p + 1};
}

struct Bracket {
    bool matches = false;
    std::size_t end = 0;  // after the closing bracket, or kNone if it does not close
};

// `at` is the position after the opening bracket.
Bracket bracket(char c, std::string_view pattern, std::size_t at) {
    bool invert = false;
    if (at < pattern.size() && pattern[at] == '!') {
        invert = true;
        at += 1;
    }
    bool found = false;
    const std::size_t start = at;
    while (at < pattern.size()) {
        const char low = pattern[at];
        if (low == ']' && at > start) {
            return {found != invert, at + 1};
        }
        if (at + 1 == pattern.size()) {
            break;
        }
        if (pattern[at + 1] == '-') {
            if (at + 2 == pattern.size()) {
                break;
            }
            found = found || (c >= low && c <= pattern[at + 2]);  // signed bytes, as in DuckDB
            at += 3;
        } else {
            found = found || c == low;
            at += 1;
        }
    }
    return {false, kNone};
}

// One element of a GLOB pattern (not *) against the byte at `t`.
Step glob_step(std::string_view text, std::size_t t, std::string_view pattern, std::size_t p) {
    const auto if_equal = [&](std::size_t at) {
        return Step{at < pattern.size() && pattern[at] == text[t] ? t + 1 : kNone, at + 1};
    };
    switch (pattern[p]) {
        case '?':
            return {t + 1, p + 1};
        case '[': {
            const Bracket b = bracket(text[t], pattern, p + 1);
            return {b.matches ? t + 1 : kNone, b.end};
        }
        case '\\':
            return if_equal(p + 1);
        default:
            return if_equal(p);
    }
}

// Small letters as DuckDB's lower() makes them, as far as an ASCII pattern can tell.
std::string small(std::string_view text) {
    constexpr std::string_view kDottedI = "\xC4\xB0";
    constexpr std::string_view kKelvin = "\xE2\x84\xAA";
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        std::size_t length = 1;
        if (text[0] >= 'A' && text[0] <= 'Z') {
            out.push_back(static_cast<char>(text[0] - 'A' + 'a'));
        } else if (text.starts_with(kDottedI)) {
            out.push_back('i');
            length = kDottedI.size();
        } else if (text.starts_with(kKelvin)) {
            out.push_back('k');
            length = kKelvin.size();
        } else {
            out.push_back(text[0]);
        }
        text.remove_prefix(length);
    }
    return out;
}

std::size_t end_of_runs(std::string_view pattern, std::size_t at, char run) {
    while (at < pattern.size() && pattern[at] == run) {
        at += 1;
    }
    return at;
}

// `run` takes any text; where what follows it does not fit, the last one takes a byte more.
template <class StepFunction>
bool matches(std::string_view text,
             std::string_view pattern,
             char run,
             bool run_is_escape,
             StepFunction step) {
    std::size_t t = 0;
    std::size_t p = 0;
    std::size_t run_pattern = kNone;  // after the last run seen
    std::size_t run_text = 0;         // where it is tried to end
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == run && !run_is_escape) {
            p = end_of_runs(pattern, p, run);
            if (p == pattern.size()) {
                return true;
            }
            run_pattern = p;
            run_text = t;
            continue;
        }
        const Step next = p < pattern.size() ? step(t, p) : Step{};
        if (next.text != kNone) {
            t = next.text;
            p = next.pattern;
        } else if (run_pattern != kNone) {
            run_text += 1;
            t = run_text;
            p = run_pattern;
        } else {
            return false;
        }
    }
    return end_of_runs(pattern, p, run) == pattern.size();
}

}  // namespace

bool like(std::string_view text, std::string_view pattern, std::optional<char> escape) {
    return matches(text, pattern, '%', escape == '%', [&](std::size_t t, std::size_t p) {
        return like_step(text, t, pattern, p, escape);
    });
}

bool ilike(std::string_view text, std::string_view pattern, std::optional<char> escape) {
    return like(small(text), small(pattern), escape);
}

bool glob(std::string_view text, std::string_view pattern) {
    return matches(text, pattern, '*', false, [&](std::size_t t, std::size_t p) {
        return glob_step(text, t, pattern, p);
    });
}

bool ends_in_escape(std::string_view pattern, char escape) {
    std::size_t at = 0;
    while (at < pattern.size()) {
        at += pattern[at] == escape ? 2u : 1u;
    }
    return at > pattern.size();
}

}  // namespace dyetrace::filter
