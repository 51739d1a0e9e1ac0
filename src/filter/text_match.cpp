#include "filter/text_match.h"

#include <cstddef>

namespace dyetrace::filter {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

bool continues_character(char c) {
    return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u;
}

// One element of a LIKE pattern against the text at `at`: position behind it, or kNone.
std::size_t like_step(std::string_view text, std::size_t at, char element, bool plain) {
    if (!plain && element == '_') {
        at += 1;
        while (at < text.size() && continues_character(text[at])) {
            at += 1;
        }
        return at;
    }
    return text[at] == element ? at + 1 : kNone;
}

struct Bracket {
    bool matches = false;
    std::size_t end = 0;  // behind the closing bracket, or kNone if it does not close
};

// `at` is behind the opening bracket.
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

struct GlobStep {
    std::size_t pattern = kNone;  // position behind the element; kNone: does not match
};

// One element of a GLOB pattern (not *) against a byte.
GlobStep glob_step(char c, std::string_view pattern, std::size_t at) {
    switch (pattern[at]) {
        case '?':
            return {at + 1};
        case '[': {
            const Bracket b = bracket(c, pattern, at + 1);
            return {b.matches ? b.end : kNone};
        }
        case '\\':
            return {at + 1 < pattern.size() && pattern[at + 1] == c ? at + 2 : kNone};
        default:
            return {pattern[at] == c ? at + 1 : kNone};
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

std::size_t behind_runs(std::string_view pattern, std::size_t at, char run) {
    while (at < pattern.size() && pattern[at] == run) {
        at += 1;
    }
    return at;
}

}  // namespace

bool like(std::string_view text, std::string_view pattern, std::optional<char> escape) {
    std::size_t t = 0;
    std::size_t p = 0;
    std::size_t run_pattern = kNone;  // behind the last % seen
    std::size_t run_text = 0;         // where it is tried to end
    while (t < text.size()) {
        const bool escaped = p < pattern.size() && escape && pattern[p] == *escape;
        if (p < pattern.size() && !escaped && pattern[p] == '%') {
            p = behind_runs(pattern, p, '%');
            if (p == pattern.size()) {
                return true;
            }
            run_pattern = p;
            run_text = t;
            continue;
        }
        const std::size_t element = escaped ? p + 1 : p;
        const std::size_t next =
            element < pattern.size() ? like_step(text, t, pattern[element], escaped) : kNone;
        if (next != kNone) {
            t = next;
            p = element + 1;
        } else if (run_pattern != kNone) {
            run_text += 1;
            t = run_text;
            p = run_pattern;
        } else {
            return false;
        }
    }
    return behind_runs(pattern, p, '%') == pattern.size();
}

bool ilike(std::string_view text, std::string_view pattern, std::optional<char> escape) {
    return like(small(text), small(pattern), escape);
}

bool glob(std::string_view text, std::string_view pattern) {
    std::size_t t = 0;
    std::size_t p = 0;
    std::size_t run_pattern = kNone;
    std::size_t run_text = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            p = behind_runs(pattern, p, '*');
            if (p == pattern.size()) {
                return true;
            }
            run_pattern = p;
            run_text = t;
            continue;
        }
        const std::size_t next =
            p < pattern.size() ? glob_step(text[t], pattern, p).pattern : kNone;
        if (next != kNone) {
            t += 1;
            p = next;
        } else if (run_pattern != kNone) {
            run_text += 1;
            t = run_text;
            p = run_pattern;
        } else {
            return false;
        }
    }
    return behind_runs(pattern, p, '*') == pattern.size();
}

bool ends_in_escape(std::string_view pattern, char escape) {
    std::size_t at = 0;
    while (at < pattern.size()) {
        at += pattern[at] == escape ? 2u : 1u;
    }
    return at > pattern.size();
}

}  // namespace dyetrace::filter
