// Asks a trace the questions of a report.
#pragma once

#include <atomic>

#include "apps/report_rows.h"
#include "apps/report_sql.h"
#include "base/result.h"
#include "store/database.h"

namespace dyetrace::apps {

// kFindings: what findings_of() does not need stays empty.
Result<Report> read_report(store::Database& database,
                           ReportParts parts = ReportParts::kAll,
                           const std::atomic<bool>* cancelled = nullptr);

}  // namespace dyetrace::apps
