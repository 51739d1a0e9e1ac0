// The events of a trace in a format of another tool, to a sink: what `dyetrace export` and the page's Save do.
//
//   TRY(const Exported done, write_export(database, {.format = ExportFormat::kPerfetto}, cancelled, sink));
//   done.what        "12,461,226 events"
//   done.warnings    what of the trace is not in it, a line for people each
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "exporter/event.h"
#include "store/database.h"

namespace dyetrace::reports {

enum class ExportFormat : std::uint8_t { kPerfetto, kOtlp, kCsv, kPcapng };

struct ExportPlan {
    ExportFormat format = ExportFormat::kPerfetto;
    std::string from = "events";         // as in ExportQuestion
    std::string_view clock = "cluster";  // that the database shows times with: raw, wall, cluster
    bool with_flows = true;
    bool with_arguments = true;
    // Only gaps that reach into this time are written, by the clock of the events.
    std::optional<std::pair<std::int64_t, std::int64_t>> gaps_within_ns = {};
};

struct Exported {
    std::string what;
    std::vector<std::string> warnings;
};

// The table as it is, by time.
std::string exported_table(const std::string& from);

// `from` of a plan for the events that a condition on `events` takes.
std::string exported_events(const std::string& condition);

// Setting `*cancelled` makes it kInterrupted.
Result<Exported> write_export(store::Database& database,
                              const ExportPlan& plan,
                              const std::atomic<bool>& cancelled,
                              const exporter::Sink& sink);

}  // namespace dyetrace::reports
