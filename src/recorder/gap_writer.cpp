#include "recorder/gap_writer.h"

#include <numeric>

#include "base/clock.h"

namespace dyetrace::recorder {
namespace {

constexpr std::uint32_t kAllCpus = UINT32_MAX;

std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(base::boot_time_ns());
}

}  // namespace

Result<void> GapWriter::write_losses(std::uint32_t cpu,
                                     const capture::Accounting& now,
                                     std::uint64_t begin_ns) {
    const std::uint64_t lost = now.lost_by_rings() - told_lost_[cpu];
    if (lost == 0) {
        return {};
    }
    TRY(facts_.write_gap(cpu, begin_ns, now.last_lost_ns, lost, schema::GapReason::kRingFull));
    told_lost_[cpu] += lost;
    return {};
}

Result<void> GapWriter::write_not_run(const capture::Accounting& now, std::uint64_t begin_ns) {
    const std::uint64_t calls = now.not_run - told_not_run_;
    if (calls == 0) {
        return {};
    }
    TRY(facts_.write_gap(kAllCpus, begin_ns, now_ns(), calls, schema::GapReason::kProgramNotRun));
    told_not_run_ += calls;
    return {};
}

Result<void> GapWriter::write_early_end(const Error& cause,
                                        const capture::Accounting& now,
                                        std::uint64_t begin_ns) {
    const bool was_full = cause.code() == ErrorCode::kLimitReached;
    return facts_.write_gap(
        kAllCpus,
        begin_ns,
        now_ns(),
        now.lost - std::accumulate(told_lost_.begin(), told_lost_.end(), told_not_run_),
        was_full ? schema::GapReason::kDiskFull : schema::GapReason::kDiskError);
}

}  // namespace dyetrace::recorder
