#include "capture/kernel_filter.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstddef>

#include "filter/bpf_compiler.h"
#include "kernel/abi.h"
#include "schema/generated/syscalls.bpf.h"
// the skeleton uses the types above
#include "kernel/dyetrace.skel.h"

namespace dyetrace::capture {
namespace {

Result<void> put(const bpf_map* map, std::uint32_t key, const void* value, std::size_t size) {
    if (bpf_map__update_elem(map, &key, sizeof(key), value, size, BPF_ANY) != 0) {
        return Error::from_errno(errno, fmt::format("cannot fill the map {}", bpf_map__name(map)));
    }
    return {};
}

}  // namespace

Result<base::Fd> load_exit_program(const std::vector<bpf_insn>& code, const bpf_program* sys_exit) {
    LIBBPF_OPTS(bpf_prog_load_opts, options);
    const bpf_prog_type type = bpf_program__type(sys_exit);
    if (type == BPF_PROG_TYPE_TRACING) {
        const int btf_id = libbpf_find_vmlinux_btf_id("sys_exit", BPF_TRACE_RAW_TP);
        if (btf_id < 0) {
            return Error::from_errno(-btf_id, "cannot find sys_exit in the kernel's types");
        }
        options.expected_attach_type = BPF_TRACE_RAW_TP;
        options.attach_btf_id = static_cast<__u32>(btf_id);
    }
    base::Fd program(
        bpf_prog_load(type, "dyetrace_filter", "GPL", code.data(), code.size(), &options));
    if (!program.valid()) {
        return Error::from_errno(errno, "the kernel refuses the condition's program");
    }
    return program;
}

Result<KernelFilter> KernelFilter::install(dyetrace_bpf& skeleton,
                                           const filter::Predicate& predicate,
                                           const std::string& host) {
    KernelFilter installed;
    filter::BpfLayout layout;
    layout.scratch_map_fd = bpf_map__fd(skeleton.maps.scratches);
    layout.event_offset = skeleton.rodata->scratch_event_offset;
    layout.input_offset = skeleton.rodata->scratch_input_offset;
    layout.program_array_fd = bpf_map__fd(skeleton.maps.exit_programs);
    layout.host = host;
    layout.passed_index = PROGRAM_WRITE;
    installed.layout_ = layout;
    filter::StringAtoms& atoms = installed.atoms_;
    const filter::BpfFilter of_event = filter::compile_bpf(predicate, layout, atoms);
    layout.task_only = true;
    layout.passed_index = PROGRAM_SYS_EXIT;
    layout.dropped_index = PROGRAM_DROP_TASK;
    const filter::BpfFilter of_task = filter::compile_bpf(predicate, layout, atoms);

    installed.undecided_ = of_event.undecided;
    for (const auto& [index, code] : {std::pair{PROGRAM_FILTER, &of_event.instructions},
                                      std::pair{PROGRAM_TASK_FILTER, &of_task.instructions}}) {
        TRY(base::Fd program, load_exit_program(*code, skeleton.progs.sys_exit));
        const int fd = program.get();
        TRY(put(skeleton.maps.exit_programs, index, &fd, sizeof(fd)));
        installed.programs_.push_back(std::move(program));
    }
    for (const auto& [index, program] : {std::pair{PROGRAM_SYS_EXIT, skeleton.progs.sys_exit},
                                         std::pair{PROGRAM_DROP_TASK, skeleton.progs.drop_task},
                                         std::pair{PROGRAM_WRITE, skeleton.progs.write_selected}}) {
        const int fd = bpf_program__fd(program);
        TRY(put(skeleton.maps.exit_programs, index, &fd, sizeof(fd)));
    }
    for (std::uint32_t i = 0; i < atoms.atoms().size(); ++i) {
        TRY(put(skeleton.maps.filter_atoms, i, &atoms.atoms()[i], sizeof(filter_atom)));
    }
    skeleton.bss->filter_atom_count = static_cast<std::uint32_t>(atoms.atoms().size());
    return installed;
}

}  // namespace dyetrace::capture
