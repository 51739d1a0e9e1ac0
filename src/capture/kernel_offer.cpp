#include "capture/kernel_offer.h"

#include <bpf/btf.h>

#include <memory>

namespace dyetrace::capture {

KernelOffer KernelOffer::find() {
    const std::unique_ptr<btf, decltype(&btf__free)> types(btf__load_vmlinux_btf(), &btf__free);
    if (!types) {
        return {};
    }
    const auto has = [&](const char* name, unsigned kind) {
        return btf__find_by_name_kind(types.get(), name, kind) > 0;
    };
    return {has("bpf_task_from_vpid", BTF_KIND_FUNC),
            has("bpf_task_from_pid", BTF_KIND_FUNC),
            has("btf_trace_tcp_sendmsg_locked", BTF_KIND_TYPEDEF),
            has("btf_trace_tcp_rcv_space_adjust", BTF_KIND_TYPEDEF)};
}

}  // namespace dyetrace::capture
