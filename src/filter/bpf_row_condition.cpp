#include "filter/bpf_row_condition.h"

#include "filter/bpf_conditions.h"
#include "filter/bpf_row.h"
#include "filter/string_atoms.h"

namespace dyetrace::filter {

void write_row_condition(Assembler& code,
                         const Expression& where,
                         std::ptrdiff_t row_at,
                         Label is_not,
                         Label undecided) {
    const Label is_so = code.new_label();
    BpfRow row(code, row_at);
    StringAtoms none;  // a row's text is compared where it is
    BpfConditions(code, row, none, false).condition(where, true, {is_so, is_not, undecided});
    code.place(is_so);
}

}  // namespace dyetrace::filter
