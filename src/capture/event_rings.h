// The rings of events and of facts, one of each per CPU.
//
//   rings.look();                       where the rings of events end now
//   rings.drain_facts(sink, damaged);   all facts: those that these events refer to, and maybe more
//   rings.drain_events(sink, damaged);  events up to where look() saw the end, so that none comes before its facts
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/mapping.h"
#include "base/result.h"
#include "capture/accounting.h"
#include "capture/capture.h"
#include "capture/kernel_support.h"
#include "capture/ring.h"

struct dyetrace_bpf;

namespace dyetrace::capture {

class EventRings {
  public:
    using RingSink = std::function<void(std::uint32_t cpu, std::span<const std::byte> records)>;

    // Before the programs are loaded, and after.
    void size_maps(dyetrace_bpf& skeleton,
                   const CaptureOptions& options,
                   const KernelSupport& support,
                   std::uint32_t cpus);
    Result<void> map(const dyetrace_bpf& skeleton);
    // Elements of ring_controls: STREAMS for each CPU.
    ring_control* controls();

    void look();
    // Bytes handed out; `damaged_bytes` grows by those that were no records.
    std::uint64_t drain_facts(const RingSink& sink, std::uint64_t& damaged_bytes);
    std::uint64_t drain_events(const RingSink& sink, std::uint64_t& damaged_bytes);

    // False: there is too much in one to sleep now.
    bool ask_to_be_woken();
    double fill() const;                          // of the fullest one of events, from 0 to 1
    std::uint64_t lost() const { return lost_; }  // events of all CPUs, as look() saw it
    Accounting accounting(std::uint32_t cpu) const;

  private:
    std::uint64_t event_ring_bytes_ = 0, fact_ring_bytes_ = 0;
    std::uint32_t cpus_ = 0;
    base::Mapping controls_, event_memory_, fact_memory_;
    std::vector<Ring> events_, facts_;
    std::vector<std::uint64_t> event_ends_;
    std::uint64_t lost_ = 0;
};

}  // namespace dyetrace::capture
