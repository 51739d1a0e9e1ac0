// Asks a trace the questions of a report.
#pragma once

#include <atomic>

#include "analysis/findings/report_rows.h"
#include "base/result.h"
#include "reports/overview/report_sql.h"
#include "store/database.h"

namespace dyetrace::reports {

// kFindings: what findings_of() does not need stays empty.
Result<analysis::Report> read_report(store::Database& database,
                                     ReportParts parts = ReportParts::kAll,
                                     const std::atomic<bool>* cancelled = nullptr);

}  // namespace dyetrace::reports
