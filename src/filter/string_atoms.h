// String conditions as the kernel can match them: tokens over bytes (schema/shared/filter_input.h), matched by schema/shared/filter_match.h.
//
//   path GLOB '/var/*'   ─►  / v a r / ANY_RUN      decides for any bytes: what a pattern without \ begins with is not escaped
//   exe LIKE '%/cu_l'    ─►  ANY_RUN / c u ANY_BYTE l     decides for plain text only
//
// The column's text is escaped, the kernel's is not: a pattern is turned into one over bytes, or refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/expression.h"
#include "schema/shared/filter_input.h"

namespace dyetrace::filter {

// The bytes that are shown as `text`; nothing if no bytes are.
std::optional<std::string> bytes_shown_as(std::string_view text);

// Of kEqual, kLike, kIlike, kGlob, kStartsWith, kEndsWith or kContains with a constant; nothing: it is for C++ to decide
// (brackets, a pattern too long, another operator).
std::optional<filter_atom> atom_of(const Expression& condition);

// The atoms of a predicate, each once.
class StringAtoms {
  public:
    // Its number; nothing if there are FILTER_ATOMS_MAX others, or the kernel cannot match it.
    std::optional<unsigned> number_of(const Expression& condition, filter_subject subject);

    const std::vector<filter_atom>& atoms() const { return atoms_; }

  private:
    std::vector<filter_atom> atoms_;
};

}  // namespace dyetrace::filter
