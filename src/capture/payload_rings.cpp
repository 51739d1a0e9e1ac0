#include "capture/payload_rings.h"

#include <algorithm>
#include <bit>

#include "capture/map_array.h"
#include "kernel/abi.h"
#include "schema/generated/syscalls.bpf.h"
// the skeleton uses the types above
#include "kernel/dyetrace.skel.h"

namespace dyetrace::capture {

void PayloadRings::size_maps(dyetrace_bpf& skeleton,
                             const CaptureOptions& options,
                             std::uint32_t cpus) {
    ring_bytes_ = std::bit_ceil(
        std::clamp(options.payload_ring_bytes, kPayloadRingBytesMin, kEventRingBytesMax));
    skeleton.rodata->payload_ring_bytes = ring_bytes_;
    skeleton.rodata->payload_bytes_max = options.payload_bytes_max;
    if (options.content != schema::ContentLevel::kBytes) {
        return;  // the maps have one small element each, which no program touches
    }
    cpus_ = cpus;
    bpf_map__set_max_entries(skeleton.maps.payload_controls, cpus);
    bpf_map__set_max_entries(skeleton.maps.payload_rings, cpus);
    bpf_map__set_value_size(skeleton.maps.payload_rings,
                            static_cast<std::uint32_t>(ring_bytes_ + PAYLOAD_SLACK_BYTES));
}

Result<void> PayloadRings::map(const dyetrace_bpf& skeleton) {
    if (cpus_ == 0) {
        return {};
    }
    TRY(controls_, map_array(skeleton.maps.payload_controls));
    TRY(memory_, map_array(skeleton.maps.payload_rings));
    auto* controls = reinterpret_cast<ring_control*>(controls_.writable_bytes().data());
    const std::uint64_t size = ring_bytes_ + PAYLOAD_SLACK_BYTES;
    for (std::uint32_t cpu = 0; cpu < cpus_; ++cpu) {
        rings_.emplace_back(memory_.bytes().subspan(cpu * size, size), ring_bytes_, &controls[cpu]);
    }
    return {};
}

std::uint64_t PayloadRings::drain(const PayloadSink& sink, std::uint64_t& damaged_bytes) {
    std::uint64_t bytes = 0;
    for (std::uint32_t cpu = 0; cpu < rings_.size(); ++cpu) {
        bytes += rings_[cpu].drain(
            UINT64_MAX, [&](auto pieces) { sink.pieces(cpu, pieces); }, damaged_bytes);
    }
    return bytes;
}

bool PayloadRings::ask_to_be_woken() {
    bool may_sleep = true;
    for (Ring& ring : rings_) {
        may_sleep &= ring.ask_to_be_woken();
    }
    return may_sleep;
}

double PayloadRings::fill() const {
    double fullest = 0;
    for (const Ring& ring : rings_) {
        fullest = std::max(fullest, ring.fill());
    }
    return fullest;
}

PayloadAccounting PayloadRings::accounting() const {
    PayloadAccounting accounting;
    for (const Ring& ring : rings_) {
        accounting.generated += ring.control().generated;
        accounting.delivered += ring.control().delivered;
        accounting.lost += ring.control().lost;
    }
    return accounting;
}

}  // namespace dyetrace::capture
