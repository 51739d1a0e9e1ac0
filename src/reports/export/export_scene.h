// Who is who in a trace, for the formats of other tools.
#pragma once

#include <optional>

#include "base/result.h"
#include "exporter/event.h"
#include "exporter/perfetto.h"
#include "store/database.h"

namespace dyetrace::reports {

// Memory: some 300 bytes for each process and thread.
Result<exporter::Scene> read_scene(store::Database& database);

// How the times of events become boot times, where the database shows them by `clock` (raw, wall, cluster).
Result<exporter::PerfettoClock> perfetto_clock(store::Database& database, std::string_view clock);

// Gaps come sorted by begin_ns, which is of the same clock as the times of events.
Result<void> each_gap(store::Database& database,
                      std::string_view clock,
                      const std::function<Result<void>(const exporter::LostEvents&)>& each);

}  // namespace dyetrace::reports
