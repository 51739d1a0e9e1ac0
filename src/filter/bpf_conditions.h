// Writes the branches of a condition in BPF: where control goes if it may be true, or may be false.
//
//   may_be_true(a AND b) = may_be_true(a) and may_be_true(b)        may_be_true(NOT a) = may_be_false(a)
//
// Each condition is TRUE, FALSE, NULL or undecided: the kernel does not know a name yet, or the column exists in user space only.
// What is undecided may be everything, or has a way of its own (Ways).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "filter/assembler.h"
#include "filter/bpf_numbers.h"
#include "filter/bpf_source.h"
#include "filter/expression.h"
#include "filter/string_atoms.h"

namespace dyetrace::filter {

struct KnownColumns {
    std::string host;        // as the Evaluator's
    bool task_only = false;  // what is known of the task is all there is
};

// With what every system call's columns are in place of those columns.
Expression with_known_columns(Expression e, const KnownColumns& known);

class BpfConditions {
  public:
    // Adds the string conditions to `atoms`.
    BpfConditions(Assembler& code, BpfSource& columns, StringAtoms& atoms, bool task_only)
        : code_(code),
          columns_(columns),
          numbers_(code, columns_),
          atoms_(atoms),
          task_only_(task_only) {}

    // Goes to ways.may if the condition may be `wanted`; `e` has no known columns any more.
    void condition(const Expression& e, bool wanted, Ways ways);

    // Goes to ways.may if the number in r1 is in one of the ranges, which ascend.
    void in_ranges(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& ranges, Ways ways);

    // What only the Evaluator decides, as SQL.
    std::vector<std::string> undecided;

  private:
    void junction(const Expression& e, bool wanted, Ways ways);
    bool atom(const Expression& e, bool wanted, Ways ways);
    bool boolean_column(const Expression& e, bool wanted, Ways ways);
    bool named_condition(const Expression& e, bool wanted, Ways ways);
    bool text_atom(const Expression& e, bool wanted, Ways ways);
    bool null_test(const Expression& e, bool wanted, Ways ways);

    Assembler& code_;
    BpfSource& columns_;
    BpfNumbers numbers_;
    StringAtoms& atoms_;
    bool task_only_;
};

}  // namespace dyetrace::filter
