#include "filter/bpf_compiler.h"

#include <utility>

#include "filter/assembler.h"
#include "filter/bpf_columns.h"
#include "filter/bpf_conditions.h"
#include "filter/bpf_frame.h"
#include "filter/simplify.h"

namespace dyetrace::filter {

BpfFilter compile_bpf(const Predicate& predicate, const BpfLayout& layout, StringAtoms& atoms) {
    const Expression known = simplified_condition(with_known_columns(
        predicate.expression(), {.host = layout.host, .task_only = layout.task_only}));
    BpfFilter filter;
    Assembler code;
    const Ways ways{code.new_label(), code.new_label()};
    begin_program(code, layout);
    BpfColumns columns(code, layout.host_index);
    BpfConditions conditions(code, columns, atoms, layout.task_only);
    conditions.condition(known, true, ways);
    code.place(ways.cannot);
    leave_program(code, layout, layout.dropped_index, 0);
    code.place(ways.may);
    leave_program(code, layout, layout.passed_index, 1);
    if (auto instructions = std::move(code).finish()) {
        filter.instructions = std::move(*instructions);
        filter.undecided = std::move(conditions.undecided);
        return filter;
    }
    filter = compile_bpf(Predicate(), layout, atoms);
    filter.too_large = true;
    filter.undecided = {predicate.to_sql()};
    return filter;
}

}  // namespace dyetrace::filter
