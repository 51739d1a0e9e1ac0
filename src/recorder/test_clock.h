// Another clock for the host that is recorded: what clocks of many hosts do to a trace can then be tried on one machine, where
// the truth is known. Builds for tests only have the option.
//
//   --test-clock offset=86400s,drift=-40ppm,step=2s@1200,zero=500000
//     what this host says ▲              ╱─ step: 2 s more from 1,200 ns on
//                         │   ╱─────────╱   drift: 40 µs a second less
//                         └──┴───────────►  what the kernel says; from `zero` on it drifts
//
// Every CLOCK_BOOTTIME of every record is what this clock would have shown, durations too; the wall clock is as much ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dyetrace::recorder {

class TestClock {
  public:
    static Result<TestClock> parse(std::string_view text);

    // Rises with `boot_ns`, unless a step goes back.
    std::uint64_t at(std::uint64_t boot_ns) const;

    // Whole records. Valid until the next call.
    std::span<const std::byte> apply(std::span<const std::byte> records);

  private:
    struct Step {
        std::int64_t ns = 0;
        std::uint64_t from_ns = 0;
    };

    std::int64_t offset_ns_ = 0;
    std::int64_t drift_ppb_ = 0;
    std::uint64_t zero_ns_ = 0;
    std::vector<Step> steps_;
    std::vector<std::byte> records_;
};

}  // namespace dyetrace::recorder
