// Asks a trace the questions of a report.
#pragma once

#include <atomic>

#include "apps/report_rows.h"
#include "base/result.h"
#include "store/database.h"

namespace dyetrace::apps {

Result<Report> read_report(store::Database& database, const std::atomic<bool>* cancelled = nullptr);

}  // namespace dyetrace::apps
