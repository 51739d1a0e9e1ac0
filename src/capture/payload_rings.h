// The rings of payload (src/kernel/content/payload.h), one per CPU; none unless --content=bytes is asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "base/mapping.h"
#include "base/result.h"
#include "capture/capture.h"
#include "capture/ring.h"

struct dyetrace_bpf;

namespace dyetrace::capture {

class PayloadRings {
  public:
    // Before the programs are loaded, and after.
    void size_maps(dyetrace_bpf& skeleton, const CaptureOptions& options, std::uint32_t cpus);
    Result<void> map(const dyetrace_bpf& skeleton);

    // Hands out all that is there; returns its bytes.
    std::uint64_t drain(const PayloadSink& sink, std::uint64_t& damaged_bytes);
    bool ask_to_be_woken();  // as EventRings
    double fill() const;     // of the fullest one, from 0 to 1
    PayloadAccounting accounting() const;

  private:
    std::uint64_t ring_bytes_ = 0;
    std::uint32_t cpus_ = 0;  // 0: no payload is wanted
    base::Mapping controls_, memory_;
    std::vector<Ring> rings_;
};

}  // namespace dyetrace::capture
