#include "capture/programs.h"

#include <bpf/libbpf.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "capture/libbpf_log.h"
#include "schema/generated/syscalls.bpf.h"
// the skeletons use the types above
#include "kernel/dyetrace.skel.h"
#include "kernel/dyetrace_by_perf.skel.h"
#include "kernel/dyetrace_without_casts.skel.h"
#include "kernel/dyetrace_without_loops.skel.h"
#include "kernel/dyetrace_without_task_work.skel.h"

namespace dyetrace::capture {
namespace {

// None where the kernel shows no types: libbpf says so.
Result<std::optional<NamedTypes>> named_types_of(const btf* kernel,
                                                 const bpf_object_skeleton& skeleton) {
    const std::unique_ptr<bpf_object, decltype(&bpf_object__close)> programs(
        bpf_object__open_mem(skeleton.data, skeleton.data_sz, nullptr), &bpf_object__close);
    const btf* named = programs ? bpf_object__btf(programs.get()) : nullptr;
    if (kernel == nullptr || named == nullptr) {
        return std::optional<NamedTypes>();
    }
    TRY(NamedTypes types, NamedTypes::of(*kernel, *named));
    return std::optional(std::move(types));
}

// libbpf's structure is older than const.
void choose_object(bpf_object_skeleton& whole, const KernelSupport& support) {
    if (!support.loop) {
        whole.data = const_cast<void*>(dyetrace_without_loops_bpf__elf_bytes(&whole.data_sz));
    } else if (!support.casts) {
        whole.data = const_cast<void*>(dyetrace_without_casts_bpf__elf_bytes(&whole.data_sz));
    } else if (support.preempts_programs) {
        whole.data = const_cast<void*>(dyetrace_by_perf_bpf__elf_bytes(&whole.data_sz));
    } else if (!support.task_work) {
        whole.data = const_cast<void*>(dyetrace_without_task_work_bpf__elf_bytes(&whole.data_sz));
    }
}

}  // namespace

void Programs::Close::operator()(dyetrace_bpf* skeleton) const {
    dyetrace_bpf__destroy(skeleton);
}

Result<Programs> Programs::open(const KernelSupport& support) {
    Programs programs;
    programs.skeleton_.reset(static_cast<dyetrace_bpf*>(std::calloc(1, sizeof(dyetrace_bpf))));
    if (!programs.skeleton_ || dyetrace_bpf__create_skeleton(programs.skeleton()) != 0) {
        return LibbpfLog::error(ENOMEM);
    }
    bpf_object_skeleton& whole = *programs.skeleton()->skeleton;
    choose_object(whole, support);
    TRY(programs.types_, named_types_of(support.types.get(), whole));
    const std::string path = programs.types_ ? programs.types_->path() : std::string();
    LIBBPF_OPTS(
        bpf_object_open_opts, options, .btf_custom_path = programs.types_ ? path.c_str() : nullptr);
    if (const int error = bpf_object__open_skeleton(&whole, &options); error != 0) {
        return LibbpfLog::error(-error);
    }
    return programs;
}

void Programs::leave_out_calls() {
    const auto& all = skeleton()->progs;
    const std::array<const bpf_program*, 5> kept{
        all.task_fork, all.task_exec, all.task_exit, all.mark_tasks, all.count_watched};
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, skeleton()->obj) {
        if (std::find(kept.begin(), kept.end(), program) == kept.end()) {
            bpf_program__set_autoload(program, false);
        }
    }
}

Result<void> Programs::load() {
    if (const int error = dyetrace_bpf__load(skeleton()); error != 0) {
        return LibbpfLog::error(-error);
    }
    types_.reset();
    return {};
}

}  // namespace dyetrace::capture
