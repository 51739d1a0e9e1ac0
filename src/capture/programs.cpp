#include "capture/programs.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

// File systems whose inodes the programs look into (kernel/file_system_types.h); many kernels have them as modules.
constexpr const char* kModules[] = {"btrfs", "ext4", "overlay", "xfs"};

using Types = std::unique_ptr<btf, decltype(&btf__free)>;

std::vector<Types> types_of_modules(btf& kernel) {
    std::vector<Types> modules;
    for (const char* name : kModules) {
        if (access(fmt::format("/sys/kernel/btf/{}", name).c_str(), R_OK) == 0) {
            Types types(btf__load_module_btf(name, &kernel), &btf__free);
            if (types) {
                modules.push_back(std::move(types));
            }
        }
    }
    return modules;
}

// None where the kernel shows no types: libbpf says so.
Result<std::optional<NamedTypes>> named_types_of(btf* kernel, const bpf_object_skeleton& skeleton) {
    const std::unique_ptr<bpf_object, decltype(&bpf_object__close)> programs(
        bpf_object__open_mem(skeleton.data, skeleton.data_sz, nullptr), &bpf_object__close);
    const btf* named = programs ? bpf_object__btf(programs.get()) : nullptr;
    if (kernel == nullptr || named == nullptr) {
        return std::optional<NamedTypes>();
    }
    const std::vector<Types> loaded = types_of_modules(*kernel);
    std::vector<const btf*> modules;
    for (const Types& types : loaded) {
        modules.push_back(types.get());
    }
    TRY(NamedTypes types, NamedTypes::of(*kernel, modules, *named));
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
