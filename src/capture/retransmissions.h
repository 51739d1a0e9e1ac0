// What TCP sends again (src/kernel/programs/retransmit.bpf.c). It has a ring per CPU of its own, because it is sent in interrupts, which come in the
// middle of who writes to the others; and none of it is an event: whoever drains gets it by itself.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/mapping.h"
#include "base/result.h"
#include "capture/capture.h"
#include "capture/kernel_support.h"
#include "capture/ring.h"

struct dyetrace_bpf;

namespace dyetrace::capture {

class Retransmissions {
  public:
    // Before the programs are loaded, and after.
    void prepare(dyetrace_bpf& skeleton,
                 const CaptureOptions& options,
                 const KernelSupport& support,
                 std::uint32_t cpus);
    // `controls` has STREAMS for each CPU; this takes the last of them.
    Result<void> map(const dyetrace_bpf& skeleton, ring_control* controls, std::uint32_t cpus);
    // Attaches it and says how that went; nothing if nobody asked for it. `hides_process`: this kernel runs no program while its
    // first process has the CPU, also none in an interrupt.
    std::optional<Source> attach(dyetrace_bpf& skeleton, bool hides_process) const;
    // After the detachment: what came in the middle of another one is in no accounting, and is said here.
    static std::optional<Source> finish(const dyetrace_bpf& skeleton);

    // Call it before the facts are drained: what drain() takes then refers to none that are still to come.
    void look();
    // Returns the bytes that it took.
    std::uint64_t drain(std::uint64_t& damaged_bytes);
    const std::vector<schema::Retransmission>& drained() const { return drained_; }
    Accounting accounting(std::uint32_t cpu) const;

  private:
    bool is_asked_ = false;
    base::Mapping memory_;
    std::vector<Ring> rings_;
    std::vector<std::uint64_t> ends_;
    std::vector<schema::Retransmission> drained_;
};

}  // namespace dyetrace::capture
