#include "capture/kernel_support.h"

#include <bpf/btf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "base/mapping.h"
#include "capture/capture.h"
#include "capture/kernel_types.h"
#include "schema/generated/syscalls.bpf.h"
// the skeleton uses the types above
#include "kernel/dyetrace.skel.h"

namespace dyetrace::capture {
namespace {

// Mapped where the kernel allows it (6.16): it gives 4 KiB a read.
btf* load_types() {
    const auto file = base::Mapping::of_file(kKernelTypes);
    if (file.ok() && !file.value().bytes().empty()) {
        const auto bytes = file.value().bytes();
        return btf__new(bytes.data(), static_cast<std::uint32_t>(bytes.size()));
    }
    return btf__load_vmlinux_btf();
}

struct WantedType {
    unsigned kind;
    std::string_view name;
    const btf_type* type = nullptr;  // where the kernel has it
};

// The kernel's types that say what it has, found in one walk: libbpf goes through all 130,000 for each.
class WantedTypes {
  public:
    explicit WantedTypes(const btf& types) : types_(types) {
        for (std::uint32_t id = 1; id < btf__type_cnt(&types); ++id) {
            const btf_type* type = btf__type_by_id(&types, id);
            const unsigned kind = btf_kind(type);
            for (WantedType& wanted : wanted_) {
                if (wanted.kind == kind && wanted.type == nullptr &&
                    is_called(*type, wanted.name)) {
                    wanted.type = type;
                }
            }
        }
    }

    bool has(std::string_view name) const { return find(name) != nullptr; }

    // Whether the enum of helpers names it.
    bool has_helper(std::string_view name) const {
        const btf_type* helpers = find("bpf_func_id");
        const std::span values(btf_enum(helpers), helpers == nullptr ? 0 : btf_vlen(helpers));
        return std::any_of(values.begin(), values.end(), [&](const struct btf_enum& value) {
            return name == btf__name_by_offset(&types_, value.name_off);
        });
    }

    bool has_member(std::string_view of, std::string_view name) const {
        const btf_type* whole = find(of);
        const std::span members(btf_members(whole), whole == nullptr ? 0 : btf_vlen(whole));
        return std::any_of(members.begin(), members.end(), [&](const btf_member& member) {
            return name == btf__name_by_offset(&types_, member.name_off);
        });
    }

    // How many arguments a tracepoint has; the first is what BPF keeps for itself.
    std::uint32_t argument_count(std::string_view tracepoint) const {
        const btf_type* own = find(tracepoint);
        const btf_type* pointer = own != nullptr ? btf__type_by_id(&types_, own->type) : nullptr;
        return pointer != nullptr ? btf_vlen(btf__type_by_id(&types_, pointer->type)) - 1u : 0;
    }

  private:
    bool is_called(const btf_type& type, std::string_view name) const {
        const char* own = btf__name_by_offset(&types_, type.name_off);
        return own != nullptr && own[0] == name[0] && own == name;
    }

    const btf_type* find(std::string_view name) const {
        const auto* found =
            std::find_if(wanted_.begin(), wanted_.end(), [&](const WantedType& wanted) {
                return wanted.name == name;
            });
        return found->type;
    }

    const btf& types_;
    std::array<WantedType, 10> wanted_{{
        {BTF_KIND_FUNC, "bpf_rdonly_cast"},
        {BTF_KIND_ENUM, "bpf_func_id"},
        {BTF_KIND_TYPEDEF, "btf_trace_tcp_sendmsg_locked"},
        {BTF_KIND_TYPEDEF, "btf_trace_tcp_rcv_space_adjust"},
        {BTF_KIND_TYPEDEF, "btf_trace_tcp_retransmit_skb"},
        {BTF_KIND_FUNC, "bpf_task_work_schedule_resume_impl"},
        {BTF_KIND_FUNC, "bpf_task_work_schedule_resume"},
        {BTF_KIND_VAR, "tracepoint_srcu_srcu_data"},
        {BTF_KIND_FUNC, "bpf_iter_task_file"},
        {BTF_KIND_STRUCT, "file"},
    }};
};

}  // namespace

void FreeTypes::operator()(btf* types) const {
    btf__free(types);
}

KernelSupport KernelSupport::find() {
    std::unique_ptr<btf, FreeTypes> types(load_types());
    if (!types) {
        return {};
    }
    const WantedTypes found(*types);
    return {found.has("bpf_rdonly_cast"),
            found.has_helper("BPF_FUNC_loop"),
            found.has("btf_trace_tcp_sendmsg_locked"),
            found.has("btf_trace_tcp_rcv_space_adjust"),
            found.has("btf_trace_tcp_retransmit_skb"),
            found.argument_count("btf_trace_tcp_retransmit_skb") == 3,
            found.has_helper("BPF_FUNC_copy_from_user_task"),
            found.has("bpf_task_work_schedule_resume_impl"),
            found.has("tracepoint_srcu_srcu_data") &&
                found.has("bpf_task_work_schedule_resume"),  // before 6.13 it had another use
            found.has("bpf_iter_task_file") && found.has_member("file", "f_ep"),
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
