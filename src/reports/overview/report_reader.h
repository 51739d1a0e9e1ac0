// Asks a trace the questions of a report.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "analysis/findings/report_rows.h"
#include "base/result.h"
#include "reports/overview/report_sql.h"
#include "store/database.h"

namespace dyetrace::reports {

// What of a trace it is about.
struct ReportScope {
    std::string events = "events";                // or a view with its columns
    std::int64_t from_ns = 0, to_ns = INT64_MAX;  // CLOCK_BOOTTIME, of what is no event
};

// kFindings: what findings_of() does not need stays empty.
Result<analysis::Report> read_report(store::Database& database,
                                     ReportParts parts = ReportParts::kAll,
                                     const std::atomic<bool>* cancelled = nullptr,
                                     const ReportScope& scope = {});

}  // namespace dyetrace::reports
