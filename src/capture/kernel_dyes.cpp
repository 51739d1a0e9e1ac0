#include "capture/kernel_dyes.h"

#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>

#include "capture/grace_period.h"
#include "kernel/abi.h"
#include "schema/generated/syscalls.bpf.h"
// the skeleton uses the types above
#include "kernel/dyetrace.skel.h"

namespace dyetrace::capture {
namespace {

constexpr std::uint32_t kNoTableBytes = 8;
static_assert(sizeof(dye_table) % 8 == 0);  // as the kernel spaces an array's values

}  // namespace

void choose_dyes(dyetrace_bpf& skeleton, bool look_for_dyes, bool only_dyed) {
    skeleton.rodata->only_dyed = only_dyed;
    skeleton.rodata->look_for_dyes = look_for_dyes;
    if (!look_for_dyes) {
        bpf_map__set_value_size(skeleton.maps.dye_tables, kNoTableBytes);
    }
}

Result<KernelDyes> KernelDyes::install(dyetrace_bpf& skeleton, bool only_dyed) {
    if (!skeleton.rodata->look_for_dyes) {
        return KernelDyes(skeleton, std::nullopt);
    }
    constexpr std::size_t kBytes =
        (DYE_TABLES * sizeof(dye_table) + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    TRY(base::Mapping memory,
        base::Mapping::make(
            kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(skeleton.maps.dye_tables), 0));
    KernelDyes dyes(skeleton, std::move(memory));
    if (only_dyed) {
        dyes.only_.emplace();
    }
    return dyes;
}

Result<void> KernelDyes::look_for(std::vector<DyePattern> dyes) {
    TRY(table_.build(std::move(dyes)));
    if (!memory_) {
        return {};  // anchors only
    }
    const std::uint32_t next = (skeleton_->bss->dye_table_in_use + 1) % DYE_TABLES;
    wait_for_running_programs();  // who began with that table, before the last change
    std::memcpy(memory_->writable_bytes().data() + next * sizeof(dye_table),
                &table_.raw(),
                sizeof(dye_table));
    std::atomic_ref(skeleton_->bss->dye_table_in_use).store(next, std::memory_order_release);
    return {};
}

std::string KernelDyes::lack() const {
    std::string text;
    if (join_.candidates_dropped() > 0) {
        text = fmt::format("{} places that may be dyes were too many to be compared",
                           join_.candidates_dropped());
    }
    if (join_.forgotten() > 0) {
        text += fmt::format("{}of {} calls a neighbour did not come within the next {}",
                            text.empty() ? "" : "; ",
                            join_.forgotten(),
                            DyeBorders::kPiecesMax);
    }
    return text;
}

void KernelDyes::pass_on(std::uint32_t cpu,
                         std::span<const std::byte> events,
                         const DyedOnly::Sink& sink) {
    stripped_.clear();
    join_.take(cpu, events, stripped_);
    if (only_) {
        only_->hold(cpu, stripped_);
    } else {
        sink(cpu, stripped_);
    }
}

void KernelDyes::join(std::uint64_t until_ns, std::uint64_t lost, const DyedOnly::Sink& sink) {
    if (lost != lost_) {
        join_.events_were_lost();
    }
    lost_ = lost;
    join_.join(table_, until_ns);
    if (only_) {
        for (const auto& [cpu, sequence] : join_.touched()) {
            only_->keep(cpu, sequence);
        }
        only_->release(until_ns, sink);
    }
}

}  // namespace dyetrace::capture
