// The gaps of a recording: every event that is missing is counted in one of them, which says since when, until when and why.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "capture/accounting.h"
#include "recorder/fact_writer.h"

namespace dyetrace::recorder {

class GapWriter {
  public:
    GapWriter(FactWriter& facts, std::uint32_t cpus) : facts_(facts), told_lost_(cpus) {}

    // What the ring of a CPU took no more since this was last asked, not before `begin_ns`.
    Result<void> write_losses(std::uint32_t cpu,
                              const capture::Accounting& now,
                              std::uint64_t begin_ns);

    // Calls for which the kernel ran no program: it says how many, not when.
    Result<void> write_not_run(const capture::Accounting& now, std::uint64_t begin_ns);

    // All that is in no gap yet, when the recording ends before what it records does.
    Result<void> write_early_end(const Error& cause,
                                 const capture::Accounting& now,
                                 std::uint64_t begin_ns);

  private:
    FactWriter& facts_;
    std::vector<std::uint64_t> told_lost_;  // by CPU
    std::uint64_t told_not_run_ = 0;
};

}  // namespace dyetrace::recorder
