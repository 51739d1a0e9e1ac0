#include "capture/event_rings.h"

#include <algorithm>
#include <bit>

#include "capture/map_array.h"
#include "kernel/abi.h"
#include "schema/generated/syscalls.bpf.h"
// the skeleton uses the types above
#include "kernel/dyetrace.skel.h"

namespace dyetrace::capture {
namespace {

// Without loops (before 5.17) an element of an array, which a ring is, has 4 MiB at most (KMALLOC_MAX_SIZE), slack included.
constexpr std::uint64_t kRingBytesMaxOfOldKernels = 2 << 20;

std::uint64_t possible_ring_bytes(std::uint64_t wanted, const KernelSupport& support) {
    const std::uint64_t most = support.loop ? kEventRingBytesMax : kRingBytesMaxOfOldKernels;
    return std::bit_ceil(std::clamp(wanted, kEventRingBytesMin, most));
}

}  // namespace

void EventRings::size_maps(dyetrace_bpf& skeleton,
                           const CaptureOptions& options,
                           const KernelSupport& support,
                           std::uint32_t cpus) {
    cpus_ = cpus;
    event_ring_bytes_ = possible_ring_bytes(options.event_ring_bytes, support);
    fact_ring_bytes_ = possible_ring_bytes(options.fact_ring_bytes, support);
    skeleton.rodata->event_ring_bytes = event_ring_bytes_;
    skeleton.rodata->fact_ring_bytes = fact_ring_bytes_;
    bpf_map__set_max_entries(skeleton.maps.ring_controls, cpus * STREAMS);
    bpf_map__set_max_entries(skeleton.maps.event_rings, cpus);
    bpf_map__set_max_entries(skeleton.maps.fact_rings, cpus);
    bpf_map__set_value_size(skeleton.maps.event_rings,
                            static_cast<std::uint32_t>(event_ring_bytes_ + RECORD_BYTES_MAX));
    bpf_map__set_value_size(skeleton.maps.fact_rings,
                            static_cast<std::uint32_t>(fact_ring_bytes_ + RECORD_BYTES_MAX));
}

Result<void> EventRings::map(const dyetrace_bpf& skeleton) {
    TRY(controls_, map_array(skeleton.maps.ring_controls));
    TRY(event_memory_, map_array(skeleton.maps.event_rings));
    TRY(fact_memory_, map_array(skeleton.maps.fact_rings));
    for (std::uint32_t cpu = 0; cpu < cpus_; ++cpu) {
        const std::uint64_t event_size = event_ring_bytes_ + RECORD_BYTES_MAX;
        const std::uint64_t fact_size = fact_ring_bytes_ + RECORD_BYTES_MAX;
        ring_control* of_cpu = controls() + cpu * STREAMS;
        events_.emplace_back(event_memory_.bytes().subspan(cpu * event_size, event_size),
                             event_ring_bytes_,
                             &of_cpu[STREAM_EVENTS]);
        facts_.emplace_back(fact_memory_.bytes().subspan(cpu * fact_size, fact_size),
                            fact_ring_bytes_,
                            &of_cpu[STREAM_FACTS]);
    }
    return {};
}

ring_control* EventRings::controls() {
    return reinterpret_cast<ring_control*>(controls_.writable_bytes().data());
}

void EventRings::look() {
    event_ends_.clear();
    lost_ = 0;
    for (const Ring& ring : events_) {
        event_ends_.push_back(ring.head());
        lost_ += ring.lost();
    }
}

std::uint64_t EventRings::drain_facts(const RingSink& sink, std::uint64_t& damaged_bytes) {
    std::uint64_t bytes = 0;
    for (std::uint32_t cpu = 0; cpu < cpus_; ++cpu) {
        bytes += facts_[cpu].drain(
            UINT64_MAX, [&](auto records) { sink(cpu, records); }, damaged_bytes);
    }
    return bytes;
}

std::uint64_t EventRings::drain_events(const RingSink& sink, std::uint64_t& damaged_bytes) {
    std::uint64_t bytes = 0;
    for (std::uint32_t cpu = 0; cpu < cpus_; ++cpu) {
        bytes += events_[cpu].drain(
            event_ends_[cpu], [&](auto records) { sink(cpu, records); }, damaged_bytes);
    }
    return bytes;
}

bool EventRings::ask_to_be_woken() {
    bool may_sleep = true;
    for (std::uint32_t cpu = 0; cpu < cpus_; ++cpu) {
        may_sleep &= events_[cpu].ask_to_be_woken();
        may_sleep &= facts_[cpu].ask_to_be_woken();
    }
    return may_sleep;
}

double EventRings::fill() const {
    double fullest = 0;
    for (const Ring& ring : events_) {
        fullest = std::max(fullest, ring.fill());
    }
    return fullest;
}

Accounting EventRings::accounting(std::uint32_t cpu) const {
    const ring_control& events = events_[cpu].control();
    const ring_control& facts = facts_[cpu].control();
    return {.generated = read_counter(events.generated),
            .filtered = read_counter(events.filtered),
            .aggregated = read_counter(events.aggregated),
            .delivered = read_counter(events.delivered),
            .lost = read_counter(events.lost),
            .facts_delivered = read_counter(facts.delivered),
            .facts_lost = read_counter(facts.lost),
            .last_lost_ns = read_counter(events.last_lost_ns)};
}

}  // namespace dyetrace::capture
