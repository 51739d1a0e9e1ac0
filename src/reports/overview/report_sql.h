// The questions that `dyetrace report` asks, and how their rows become report_rows.h.
//
//   for (const ReportQuestion& question : report_questions()) {
//       unless report.overview.calls > question.calls_max: for each row of question.sql: question.take(report, cells);
//   }
//
// Findings alone need fewer of them.
//
// Some make temporary views and tables and give no rows. A row that is not as expected is left out.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "analysis/findings/report_rows.h"

namespace dyetrace::reports {

using ReportCells = std::span<const std::string_view>;  // "" for NULL

enum class ReportParts : std::uint8_t { kFindings, kAll };

struct ReportQuestion {
    const char* name;
    ReportParts parts;  // the least that it is asked for
    std::string_view sql;
    void (*take)(analysis::Report& report, ReportCells cells);
    std::uint64_t calls_max = UINT64_MAX;  // of the overview; it is not asked of a trace with more
};

std::span<const ReportQuestion> report_questions();

}  // namespace dyetrace::reports
