#include "filter/string_atoms.h"

#include <algorithm>
#include <cstring>

#include "schema/text.h"

namespace dyetrace::filter {
namespace {

using Tokens = std::vector<std::uint16_t>;

std::uint16_t literal(char c) {
    return static_cast<unsigned char>(c);
}

void append_run(Tokens& tokens) {
    if (tokens.empty() || tokens.back() != FILTER_TOKEN_ANY_RUN) {
        tokens.push_back(FILTER_TOKEN_ANY_RUN);
    }
}

Tokens literals(std::string_view text) {
    Tokens tokens;
    for (const char c : text) {
        tokens.push_back(literal(c));
    }
    return tokens;
}

// Either case of an ASCII letter.
std::uint16_t letter(char c) {
    const char small = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return small >= 'a' && small <= 'z'
               ? static_cast<std::uint16_t>(FILTER_TOKEN_LETTER | literal(small))
               : literal(c);
}

Tokens like_tokens(std::string_view pattern, std::optional<char> escape, bool any_case) {
    Tokens tokens;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const bool escaped = escape && pattern[i] == *escape;
        i += escaped ? 1u : 0u;
        if (!escaped && pattern[i] == '%') {
            append_run(tokens);
        } else if (!escaped && pattern[i] == '_') {
            tokens.push_back(FILTER_TOKEN_ANY_BYTE);
        } else {
            tokens.push_back(any_case ? letter(pattern[i]) : literal(pattern[i]));
        }
    }
    return tokens;
}

std::optional<Tokens> glob_tokens(std::string_view pattern) {
    Tokens tokens;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] == '[') {
            return std::nullopt;
        }
        if (pattern[i] == '*') {
            append_run(tokens);
        } else if (pattern[i] == '?') {
            tokens.push_back(FILTER_TOKEN_ANY_BYTE);
        } else if (pattern[i] == '\\') {
            i += 1;
            tokens.push_back(i < pattern.size() ? literal(pattern[i])
                                                : std::uint16_t{FILTER_TOKEN_NEVER});
        } else {
            tokens.push_back(literal(pattern[i]));
        }
    }
    return tokens;
}

std::optional<Tokens> tokens_of(const Expression& condition) {
    const std::string& text = condition.operands[1].text();
    Tokens tokens = literals(text);
    switch (condition.op) {
        case Operator::kLike:
            return like_tokens(text, condition.escape, false);
        case Operator::kIlike: {
            // The pattern is made small before its escape is looked for.
            const bool capital =
                condition.escape && *condition.escape >= 'A' && *condition.escape <= 'Z';
            return capital ? std::nullopt
                           : std::optional(like_tokens(text, condition.escape, true));
        }
        case Operator::kGlob:
            return glob_tokens(text);
        case Operator::kStartsWith:
            append_run(tokens);
            return tokens;
        case Operator::kEndsWith:
            tokens.insert(tokens.begin(), FILTER_TOKEN_ANY_RUN);
            return tokens;
        case Operator::kContains:
            tokens.insert(tokens.begin(), FILTER_TOKEN_ANY_RUN);
            append_run(tokens);
            return tokens;
        default:
            return std::nullopt;
    }
}

// Bytes up to a run: what is shown as they are begins with them, and only that. A \ may begin an escape.
bool is_plain_beginning(const Tokens& tokens) {
    return !tokens.empty() && tokens.back() == FILTER_TOKEN_ANY_RUN &&
           std::all_of(tokens.begin(), tokens.end() - 1, [](std::uint16_t token) {
               return token < 0x100 && token != '\\';
           });
}

std::optional<filter_atom> packed(const Tokens& tokens, bool any_text) {
    if (tokens.size() > FILTER_TOKENS_MAX) {
        return std::nullopt;
    }
    filter_atom atom{};
    atom.length = static_cast<std::uint16_t>(tokens.size());
    atom.flags = any_text ? FILTER_ATOM_ANY_TEXT : 0;
    std::copy(tokens.begin(), tokens.end(), atom.tokens);
    return atom;
}

}  // namespace

std::optional<std::string> bytes_shown_as(std::string_view text) {
    auto bytes = schema::unescaped(text);
    if (bytes && schema::escaped(*bytes) != text) {
        return std::nullopt;
    }
    return bytes;
}

std::optional<filter_atom> atom_of(const Expression& condition) {
    if (condition.operands[1].type != Type::kText) {
        return std::nullopt;
    }
    if (condition.op == Operator::kEqual) {
        const auto bytes = bytes_shown_as(condition.operands[1].text());
        return packed(bytes ? literals(*bytes) : Tokens{FILTER_TOKEN_NEVER}, true);
    }
    const auto tokens = tokens_of(condition);
    return tokens ? packed(*tokens, is_plain_beginning(*tokens)) : std::nullopt;
}

std::optional<unsigned> StringAtoms::number_of(const Expression& condition,
                                               filter_subject subject) {
    auto atom = atom_of(condition);
    if (!atom) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < atoms_.size(); ++i) {
        const bool same = atoms_[i].length == atom->length && atoms_[i].flags == atom->flags &&
                          std::memcmp(atoms_[i].tokens, atom->tokens, sizeof(atom->tokens)) == 0;
        if (same) {
            atoms_[i].subjects = static_cast<std::uint8_t>(atoms_[i].subjects | subject);
            return static_cast<unsigned>(i);
        }
    }
    if (atoms_.size() == FILTER_ATOMS_MAX) {
        return std::nullopt;
    }
    atom->subjects = static_cast<std::uint8_t>(subject);
    atoms_.push_back(*atom);
    return static_cast<unsigned>(atoms_.size() - 1);
}

}  // namespace dyetrace::filter
