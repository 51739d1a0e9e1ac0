#include "capture/kernel_support.h"

#include <bpf/btf.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>

#include "schema/generated/syscalls.bpf.h"
// the skeleton uses the types above
#include "kernel/dyetrace.skel.h"
#include "kernel/dyetrace_without_casts.skel.h"

namespace dyetrace::capture {
namespace {

// Whether the enum of helpers names it.
bool has_helper(const btf& types, std::string_view name) {
    const std::int32_t id = btf__find_by_name_kind(&types, "bpf_func_id", BTF_KIND_ENUM);
    if (id <= 0) {
        return false;
    }
    const btf_type* helpers = btf__type_by_id(&types, static_cast<std::uint32_t>(id));
    const std::span values(btf_enum(helpers), btf_vlen(helpers));
    return std::any_of(values.begin(), values.end(), [&](const struct btf_enum& value) {
        return name == btf__name_by_offset(&types, value.name_off);
    });
}

bool has_member(const btf& types, const char* of, std::string_view name) {
    const std::int32_t id = btf__find_by_name_kind(&types, of, BTF_KIND_STRUCT);
    if (id <= 0) {
        return false;
    }
    const btf_type* whole = btf__type_by_id(&types, static_cast<std::uint32_t>(id));
    const std::span members(btf_members(whole), btf_vlen(whole));
    return std::any_of(members.begin(), members.end(), [&](const btf_member& member) {
        return name == btf__name_by_offset(&types, member.name_off);
    });
}

// How many arguments a tracepoint has; the first is what BPF keeps for itself.
std::uint32_t argument_count(const btf& types, const char* tracepoint) {
    const std::int32_t id = btf__find_by_name_kind(&types, tracepoint, BTF_KIND_TYPEDEF);
    const btf_type* pointer =
        id > 0
            ? btf__type_by_id(&types, btf__type_by_id(&types, static_cast<std::uint32_t>(id))->type)
            : nullptr;
    return pointer != nullptr ? btf_vlen(btf__type_by_id(&types, pointer->type)) - 1u : 0;
}

}  // namespace

KernelSupport KernelSupport::find() {
    const std::unique_ptr<btf, decltype(&btf__free)> types(btf__load_vmlinux_btf(), &btf__free);
    if (!types) {
        return {};
    }
    const auto has = [&](const char* name, unsigned kind) {
        return btf__find_by_name_kind(types.get(), name, kind) > 0;
    };
    return {has("bpf_rdonly_cast", BTF_KIND_FUNC),
            has_helper(*types, "BPF_FUNC_loop"),
            has("btf_trace_tcp_sendmsg_locked", BTF_KIND_TYPEDEF),
            has("btf_trace_tcp_rcv_space_adjust", BTF_KIND_TYPEDEF),
            has("btf_trace_tcp_retransmit_skb", BTF_KIND_TYPEDEF),
            argument_count(*types, "btf_trace_tcp_retransmit_skb") == 3,
            has_helper(*types, "BPF_FUNC_copy_from_user_task"),
            has("bpf_task_work_schedule_resume_impl", BTF_KIND_FUNC),
            has("bpf_iter_task_file", BTF_KIND_FUNC) && has_member(*types, "file", "f_ep")};
}

dyetrace_bpf* KernelSupport::open() const {
    if (casts) {
        return dyetrace_bpf__open();
    }
    std::unique_ptr<dyetrace_bpf, decltype(&dyetrace_bpf__destroy)> opened(
        static_cast<dyetrace_bpf*>(std::calloc(1, sizeof(dyetrace_bpf))), &dyetrace_bpf__destroy);
    if (!opened || dyetrace_bpf__create_skeleton(opened.get()) != 0) {
        errno = ENOMEM;
        return nullptr;
    }
    bpf_object_skeleton& skeleton = *opened->skeleton;
    // libbpf's structure is older than const
    skeleton.data = const_cast<void*>(dyetrace_without_casts_bpf__elf_bytes(&skeleton.data_sz));
    if (const int error = bpf_object__open_skeleton(&skeleton, nullptr); error != 0) {
        opened.reset();
        errno = -error;
        return nullptr;
    }
    return opened.release();
}

void KernelSupport::choose(dyetrace_bpf& skeleton) const {
    skeleton.rodata->read_other_tasks = copy_from_user_task;
    skeleton.rodata->can_defer = task_work;
    if (copy_from_user_task) {
        bpf_program__set_flags(skeleton.progs.finish_calls, BPF_F_SLEEPABLE);
    }
    bpf_program__set_autoload(skeleton.progs.find_members, sets_of_files);
    bpf_program__set_autoload(skeleton.progs.stream_sent, tcp_sendmsg_locked);
    bpf_program__set_autoload(skeleton.progs.stream_read, tcp_rcv_space_adjust);
}

}  // namespace dyetrace::capture
