#include "capture/kernel_support.h"

#include <bpf/btf.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "capture/capture.h"
#include "schema/generated/syscalls.bpf.h"
// the skeleton uses the types above
#include "kernel/dyetrace.skel.h"

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

void FreeTypes::operator()(btf* types) const {
    btf__free(types);
}

KernelSupport KernelSupport::find() {
    std::unique_ptr<btf, FreeTypes> types(btf__load_vmlinux_btf());
    if (!types) {
        return {};
    }
    const auto has = [&](const char* name, unsigned kind) {
        return btf__find_by_name_kind(types.get(), name, kind) > 0;
    };
    return {
        has("bpf_rdonly_cast", BTF_KIND_FUNC),
        has_helper(*types, "BPF_FUNC_loop"),
        has("btf_trace_tcp_sendmsg_locked", BTF_KIND_TYPEDEF),
        has("btf_trace_tcp_rcv_space_adjust", BTF_KIND_TYPEDEF),
        has("btf_trace_tcp_retransmit_skb", BTF_KIND_TYPEDEF),
        argument_count(*types, "btf_trace_tcp_retransmit_skb") == 3,
        has_helper(*types, "BPF_FUNC_copy_from_user_task"),
        has("bpf_task_work_schedule_resume_impl", BTF_KIND_FUNC),
        has("tracepoint_srcu_srcu_data", BTF_KIND_VAR) &&
            has("bpf_task_work_schedule_resume", BTF_KIND_FUNC),  // before 6.13 it had another use
        has("bpf_iter_task_file", BTF_KIND_FUNC) && has_member(*types, "file", "f_ep"),
        std::move(types)};
}

void KernelSupport::forget(Lack lack) {
    preempts_programs = preempts_programs && lack < Lack::kTaskWork;
    task_work = task_work && lack < Lack::kTaskWork;
    casts = casts && lack < Lack::kCasts;
    loop = loop && lack < Lack::kLoops;
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
