#include "reports/overview/report_sql.h"

#include <charconv>

#include "query/sql.h"

namespace dyetrace::reports {
namespace {

constexpr std::uint64_t kKeptMax = 1'000'000;  // calls: 250 MB

// Sums of DuckDB are wider than 64 bits; what does not fit, or is NULL, is 0.
std::uint64_t number(std::string_view cell) {
    std::uint64_t value = 0;
    std::from_chars(cell.data(), cell.data() + cell.size(), value);
    return value;
}

std::string text(std::string_view cell) {
    return std::string(cell);
}

analysis::Times times(ReportCells cells) {
    return {number(cells[0]), number(cells[1]), number(cells[2]), number(cells[3])};
}

analysis::TargetRow target_row(ReportCells c) {
    return {text(c[0]),
            text(c[1]),
            number(c[2]),
            number(c[3]),
            number(c[4]),
            number(c[5]),
            number(c[6])};
}

const ReportQuestion kQuestions[] = {
    {"views",
     ReportParts::kFindings,
     query::sql::kReportViews,
     [](analysis::Report&, ReportCells) {}},
    {"size",
     ReportParts::kAll,
     query::sql::kReportSize,
     [](analysis::Report& r, ReportCells c) { r.overview.calls = number(c[0]); }},
    {"kept",
     ReportParts::kAll,
     query::sql::kReportKept,
     [](analysis::Report&, ReportCells) {},
     kKeptMax},
    {"sums",
     ReportParts::kFindings,
     query::sql::kReportSums,
     [](analysis::Report&, ReportCells) {}},
    {"overview",
     ReportParts::kFindings,
     query::sql::kReportOverview,
     [](analysis::Report& r, ReportCells c) {
         r.overview = {number(c[0]),
                       number(c[1]),
                       number(c[2]),
                       number(c[3]),
                       number(c[4]),
                       number(c[5]),
                       number(c[6])};
     }},
    {"activities",
     ReportParts::kAll,
     query::sql::kReportActivities,
     [](analysis::Report& r, ReportCells c) {
         r.activities.push_back(
             {text(c[0]), text(c[1]), text(c[2]), number(c[3]), number(c[4]), times(c.subspan(5))});
     }},
    {"calls",
     ReportParts::kAll,
     query::sql::kReportCalls,
     [](analysis::Report& r, ReportCells c) {
         r.calls.push_back(
             {text(c[0]), number(c[1]), number(c[2]), number(c[3]), times(c.subspan(4))});
     }},
    {"files",
     ReportParts::kAll,
     query::sql::kReportFiles,
     [](analysis::Report& r, ReportCells c) { r.files.push_back(target_row(c)); }},
    {"sockets",
     ReportParts::kAll,
     query::sql::kReportSockets,
     [](analysis::Report& r, ReportCells c) { r.sockets.push_back(target_row(c)); }},
    {"failures",
     ReportParts::kFindings,
     query::sql::kReportFailures,
     [](analysis::Report& r, ReportCells c) {
         r.failures.push_back({text(c[0]),
                               text(c[1]),
                               text(c[2]),
                               number(c[3]),
                               number(c[4]),
                               number(c[5]),
                               number(c[6])});
     }},
    {"opens",
     ReportParts::kFindings,
     query::sql::kReportOpens,
     [](analysis::Report& r, ReportCells c) {
         r.opens.push_back({text(c[0]), text(c[1]), number(c[2]), number(c[3]), number(c[4])});
     }},
    {"small",
     ReportParts::kFindings,
     query::sql::kReportSmall,
     [](analysis::Report& r, ReportCells c) {
         r.small.push_back({text(c[0]),
                            text(c[1]),
                            text(c[2]),
                            number(c[3]),
                            number(c[4]),
                            number(c[5]),
                            number(c[6])});
     }},
    {"sent_again",
     ReportParts::kFindings,
     query::sql::kReportSentAgain,
     [](analysis::Report& r, ReportCells c) {
         r.sent_again.push_back(
             {text(c[0]), text(c[1]), number(c[2]), number(c[3]), number(c[4]), number(c[5])});
     }},
    {"unseen_rings",
     ReportParts::kFindings,
     query::sql::kReportUnseenRings,
     [](analysis::Report& r, ReportCells c) {
         r.unseen_rings.push_back({text(c[0]), number(c[1]), c[2] == "true"});
     }},
    {"syncs",
     ReportParts::kFindings,
     query::sql::kReportSyncs,
     [](analysis::Report& r, ReportCells c) {
         r.syncs.push_back({text(c[0]),
                            text(c[1]),
                            number(c[2]),
                            number(c[3]),
                            number(c[4]),
                            number(c[5]),
                            c[6] == "true"});
     }},
    {"threads",
     ReportParts::kFindings,
     query::sql::kReportThreads,
     [](analysis::Report& r, ReportCells c) {
         r.threads.push_back({text(c[0]),
                              number(c[1]),
                              number(c[2]),
                              number(c[3]),
                              number(c[4]),
                              number(c[5]),
                              number(c[6]),
                              number(c[7])});
     }},
    {"blocked",
     ReportParts::kFindings,
     query::sql::kReportBlocked,
     [](analysis::Report& r, ReportCells c) {
         r.blocked.push_back({text(c[0]), number(c[1]), number(c[2]), text(c[3])});
     }},
    {"killed_processes",
     ReportParts::kFindings,
     query::sql::kReportKilledProcesses,
     [](analysis::Report& r, ReportCells c) {
         r.killed_processes.push_back({text(c[0]), number(c[1]), text(c[2])});
     }},
    {"gaps",
     ReportParts::kAll,
     query::sql::kReportGaps,
     [](analysis::Report& r, ReportCells c) {
         r.gaps.push_back(
             {text(c[0]), text(c[1]), number(c[2]), number(c[3]), number(c[4]), number(c[5])});
     }},
    {"coverage",
     ReportParts::kAll,
     query::sql::kReportCoverage,
     [](analysis::Report& r, ReportCells c) {
         r.not_covered.push_back({text(c[0]), text(c[1]), text(c[2]), text(c[3])});
     }},
};

}  // namespace

std::span<const ReportQuestion> report_questions() {
    return kQuestions;
}

}  // namespace dyetrace::reports
