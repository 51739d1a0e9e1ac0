#include "filter/bpf_frame.h"

#include "filter/bpf_columns.h"

namespace dyetrace::filter {

void begin_program(Assembler& code, const BpfLayout& layout) {
    const Label found = code.new_label();
    code.set(kContext, Register::k1);
    code.set(Register::k1, 0);
    code.store(Register::kFrame, -4, Register::k1, 4);
    code.set(Register::k2, Register::kFrame);
    code.calculate(BPF_ADD, Register::k2, -4);
    code.set_map(Register::k1, layout.scratch_map_fd);
    code.call(BPF_FUNC_map_lookup_elem);
    code.jump_if(BPF_JNE, Register::k0, 0, found);
    code.exit();
    code.place(found);
    code.set(kEvent, Register::k0);
    code.calculate(BPF_ADD, kEvent, static_cast<std::int32_t>(layout.event_offset));
    code.set(kInput, Register::k0);
    code.calculate(BPF_ADD, kInput, static_cast<std::int32_t>(layout.input_offset));
}

void leave_program(Assembler& code,
                   const BpfLayout& layout,
                   std::optional<std::uint32_t> to,
                   int result) {
    if (layout.program_array_fd >= 0 && to) {
        code.set(Register::k1, kContext);
        code.set_map(Register::k2, layout.program_array_fd);
        code.set(Register::k3, static_cast<std::int32_t>(*to));
        code.call(BPF_FUNC_tail_call);
        result = 0;
    }
    code.set(Register::k0, result);
    code.exit();
}

}  // namespace dyetrace::filter
