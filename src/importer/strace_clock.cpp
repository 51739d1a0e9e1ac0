#include "importer/strace_clock.h"

#include <algorithm>

namespace dyetrace::importer {
namespace {

constexpr std::uint64_t kLineNs = 1'000;

}  // namespace

std::uint64_t StraceClock::next(const StraceLine& line) {
    const auto day_ns = static_cast<std::uint64_t>(options_->day_ns);
    if (line.time_is != StraceTime::kNone) {
        kind_ = line.time_is;
    }
    std::uint64_t time_ns = std::max(last_ns_, day_ns) + kLineNs;
    switch (line.time_is) {
        case StraceTime::kDay:
            if (last_read_ns_ > line.time_ns + kDayNs / 2) {
                days_ns_ += kDayNs;
            }
            last_read_ns_ = line.time_ns;
            time_ns = day_ns + days_ns_ + line.time_ns;
            break;
        case StraceTime::kEpoch:
            time_ns = line.time_ns;
            break;
        case StraceTime::kRelative:
            time_ns = std::max(last_ns_, day_ns) + line.time_ns;
            break;
        case StraceTime::kNone:
            break;
    }
    if (time_ns <= last_ns_) {
        const std::uint64_t step_ns = last_ns_ - time_ns;
        steps_back_ += step_ns >= kLineNs ? 1 : 0;
        largest_step_ns_ = std::max(largest_step_ns_, step_ns);
        time_ns = last_ns_ + 1;
    }
    last_ns_ = time_ns;
    return time_ns;
}

}  // namespace dyetrace::importer
