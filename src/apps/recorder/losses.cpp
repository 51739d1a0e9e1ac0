#include "apps/recorder/losses.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "base/text.h"

namespace dyetrace::apps {
namespace {

constexpr std::string_view kNotRun = "the kernel did not run the program that records them";

}  // namespace

std::string losses_text(const recorder::Summary& summary) {
    if (const std::uint64_t lost = summary.lost + summary.not_run + summary.unwritten; lost > 0) {
        return base::with_separators(lost) + " events lost";
    }
    return summary.failed ? "ended early" : "nothing lost";
}

void warn_of_losses(const base::Log& log, const recorder::Summary& summary) {
    for (const std::string& line : summary.probes_missed) {
        log.warn(line);
    }
    if (const std::uint64_t lost = summary.lost - summary.probes_lost; lost > 0) {
        log.warn(
            fmt::format("{} of {} events were lost because the rings were full; the table `gaps` "
                        "says when. A larger --ring helps",
                        base::with_separators(lost),
                        base::with_separators(summary.generated)));
    }
    if (summary.not_run > 0) {
        log.warn(fmt::format("{} of {} events are missing: {}; a larger --ring does not help",
                             base::with_separators(summary.not_run),
                             base::with_separators(summary.generated),
                             kNotRun));
    }
    if (summary.unwritten > 0) {
        log.warn(
            fmt::format("{} of {} events that the kernel counted did not reach the disk; the table "
                        "`gaps` says since when",
                        base::with_separators(summary.unwritten),
                        base::with_separators(summary.generated)));
    }
}

void warn_of_losses(const base::Log& log, const capture::Accounting& accounting) {
    if (const std::uint64_t lost = accounting.lost_by_rings(); lost > 0) {
        log.warn(fmt::format("{} calls are missing here: the rings were full",
                             base::with_separators(lost)));
    }
    if (accounting.not_run > 0) {
        log.warn(fmt::format(
            "{} calls are missing here: {}", base::with_separators(accounting.not_run), kNotRun));
    }
}

std::string not_counted_text(const capture::Accounting& accounting) {
    std::string text;
    if (const std::uint64_t lost = accounting.lost_by_rings(); lost > 0) {
        text += fmt::format(", {} not counted (table full)", base::with_separators(lost));
    }
    if (accounting.not_run > 0) {
        text += fmt::format(
            ", {} not counted ({})", base::with_separators(accounting.not_run), kNotRun);
    }
    return text;
}

}  // namespace dyetrace::apps
