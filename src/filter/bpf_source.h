// Where a generated program has its values from: the event in hand (bpf_columns.h), or a probe's row (bpf_row.h).
//
// Values are those of a column or of a field: a leaf of an expression. What a source cannot do it says by returning false, and
// then it has written no code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "filter/assembler.h"
#include "filter/expression.h"
#include "schema/shared/filter_match.h"

namespace dyetrace::filter {

// Where a load goes when there is no value: it is NULL, or the kernel does not know.
struct Exits {
    Label null;
    Label undecided;
};

// A closed set of names: the text for each number that the kernel has in its place.
struct NamedNumber {
    std::uint32_t number;
    std::string_view name;
};

// What a source writes on the way to a value.
inline constexpr Register kScratch = Register::k0;
inline constexpr Register kScratch2 = Register::k3;

class BpfSource {
  public:
    virtual ~BpfSource() = default;

    // Loads an integer, a boolean, or the number that stands for a text.
    virtual bool load(const Expression& leaf, Register to, Exits exits) = 0;

    // The names that a text can be; empty: it is not of a closed set.
    virtual std::vector<NamedNumber> names_of(const Expression& leaf) const = 0;
    virtual bool load_named(const Expression& leaf, Register to, Exits exits) = 0;

    // Bytes of a text that can be copied onto the stack, NULs to their end; 0: it cannot.
    virtual std::size_t text_bytes(const Expression& leaf) const = 0;
    virtual bool copy_text(const Expression& leaf, std::ptrdiff_t frame_offset, Exits exits) = 0;

    // Jumps where a text is, or is not, this one.
    virtual bool compare_text(const Expression& leaf,
                              std::string_view text,
                              Label same,
                              Label different,
                              Exits exits) = 0;

    // Whose verdicts about other conditions on a text are at hand; nothing: there are none.
    virtual std::optional<filter_subject> subject_of(const Expression& leaf) const = 0;
    // Jumps by the verdict about a text on atom `number`.
    virtual void verdict(
        const Expression& leaf, unsigned number, Label matches, Label differs, Exits exits) = 0;
};

}  // namespace dyetrace::filter
