// The times of one log of strace as times of its host, each later than the one before.
//
// | option | in the log | what it means here |
// | -t, -tt | time of day | of the day that the user named, else of 1970-01-01; a step back by half a day is midnight |
// | -ttt | seconds since 1970 | as it is |
// | -r | seconds since the line before | from 0:00 of that day |
// | none | – | a microsecond for each line |
//
// Lines of a log come in the order in which strace saw what they say; a time that does not rise is moved to after the one before it, by 1 ns.
#pragma once

#include <cstdint>
#include <optional>

#include "importer/log_options.h"
#include "importer/strace_line.h"

namespace dyetrace::importer {

class StraceClock {
  public:
    explicit StraceClock(const LogOptions& options) : options_(&options) {}

    // Since 1970, in ns.
    std::uint64_t next(const StraceLine& line);

    StraceTime kind() const { return kind_; }
    // How many times were earlier than the line before by a microsecond or more, and by how much at
    // most.
    std::uint64_t steps_back() const { return steps_back_; }
    std::uint64_t largest_step_ns() const { return largest_step_ns_; }

  private:
    const LogOptions* options_;
    StraceTime kind_ = StraceTime::kNone;
    std::uint64_t last_ns_ = 0;  // given out
    std::uint64_t last_read_ns_ = 0;
    std::uint64_t days_ns_ = 0;
    std::uint64_t steps_back_ = 0, largest_step_ns_ = 0;
};

}  // namespace dyetrace::importer
