#include "reports/overview/report_reader.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "query/named_sql.h"
#include "query/sql.h"

namespace dyetrace::reports {
namespace {

Result<void> take_rows(store::Rows& rows,
                       const ReportQuestion& question,
                       analysis::Report& report) {
    std::vector<std::string_view> cells;
    while (true) {
        TRY(const std::span<const store::Cell> row, rows.next());
        if (row.empty()) {
            return {};
        }
        cells.clear();
        for (const store::Cell& cell : row) {
            cells.push_back(cell.text);
        }
        question.take(report, cells);
    }
}

}  // namespace

Result<analysis::Report> read_report(store::Database& database,
                                     ReportParts parts,
                                     const std::atomic<bool>* cancelled,
                                     const ReportScope& scope) {
    analysis::Report report;
    report.trace = database.path();
    report.recording = database.state() == trace::TraceState::kRecording;
    report.stored_bytes = base::bytes_in_folder(database.path());
    TRY(database.query(
        query::filled(query::sql::kReportScope,
                      {{"events", query::SqlPiece{scope.events}},
                       {"from_ns", scope.from_ns},
                       {"to_ns", scope.to_ns}}),
        [](store::Rows&) -> Result<void> { return {}; },
        cancelled));
    for (const ReportQuestion& question : report_questions()) {
        if (question.parts > parts || report.overview.calls > question.calls_max) {
            continue;
        }
        TRY(database
                .query(
                    std::string(question.sql),
                    [&](store::Rows& rows) { return take_rows(rows, question, report); },
                    cancelled)
                .with_context(fmt::format("the part '{}' of the report", question.name)));
    }
    return report;
}

}  // namespace dyetrace::reports
