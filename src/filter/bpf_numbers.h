// Compares whole numbers in BPF: columns, and what is calculated from a column and constants.
//
// BPF has 64 bits where conditions have 128: what range_of() does not prove to fit is left to user space. Sums, products and
// bits may leave 64 bits on the way, because they are right modulo 2^64; what is compared, divided or shifted may not.
#pragma once

#include <optional>

#include "filter/assembler.h"
#include "filter/bpf_source.h"
#include "filter/expression.h"

namespace dyetrace::filter {

// Where control goes when a condition may hold, or cannot.
struct Ways {
    Label may;
    Label cannot;
    // Where it goes at once when the kernel cannot decide; nowhere: to `may`. With it `may` means: holds for certain.
    std::optional<Label> undecided = {};
};

inline Label undecided_of(Ways ways) {
    return ways.undecided.value_or(ways.may);
}

// A condition over NULL cannot hold; one over what the kernel does not know may.
inline Exits exits_of(Ways ways) {
    return {.null = ways.cannot, .undecided = undecided_of(ways)};
}

class BpfNumbers {
  public:
    BpfNumbers(Assembler& code, BpfSource& columns) : code_(code), columns_(columns) {}

    // Goes to ways.may if the comparison may be `wanted`; false: the kernel cannot decide, and control falls through.
    bool comparison(Expression e, bool wanted, Ways ways);
    bool in(const Expression& e, bool wanted, Ways ways);

    // Loads a number, all 64 bits of it; false: the kernel does not have it, and nothing was written.
    bool load(const Expression& e, Register to, Exits exits);

  private:
    bool divided(const Expression& e, Register to, Exits exits);
    bool power_of_two(const Expression& e, Register to, Exits exits);
    void compare_constant(Operator op, Range range, Integer constant, Ways ways);
    void compare_registers(Operator op, Range left, Range right, Ways ways);

    template <typename Right>
    void branch(std::uint8_t jump, Right right, Ways ways) {
        code_.jump_if(jump, Register::k1, right, ways.may);
        code_.jump(ways.cannot);
    }

    Assembler& code_;
    BpfSource& columns_;
};

}  // namespace dyetrace::filter
