#include "reports/overview/report_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "analysis/findings/report_findings.h"
#include "base/harmless.h"
#include "base/text.h"
#include "format/colour.h"
#include "format/table.h"

namespace dyetrace::reports {
namespace {

using base::bytes_text;
using base::counted;
using base::duration_text;
using base::with_separators;
using format::Align;
using format::Fit;
using format::Table;

constexpr std::size_t kIndent = 2;
constexpr std::size_t kProcessesShown = 6;
constexpr std::size_t kRowsPerProcess = 4;

std::string bytes_or_dash(std::uint64_t bytes) {
    return bytes == 0 ? "–" : bytes_text(bytes);
}
std::string time_or_dash(std::uint64_t ns) {
    return ns == 0 ? "–" : duration_text(ns);
}
std::string count_or_nothing(std::uint64_t count) {
    return count == 0 ? "" : with_separators(count);
}

std::string losses_text(const analysis::Report& report) {
    std::uint64_t lost = 0, unknown = 0;
    for (const analysis::GapRow& gap : report.gaps) {
        lost += gap.lost;
        unknown += gap.unknown;
    }
    if (report.gaps.empty()) {
        return "nothing lost";
    }
    std::string words = lost == 0 && unknown == 0 ? "no event lost, but facts about some"
                                                  : counted(lost, "event") + " lost";
    return unknown == 0
               ? words
               : words + fmt::format(", and more in {} of unknown size", counted(unknown, "gap"));
}

std::string head_line(const analysis::Report& report) {
    const analysis::Overview& all = report.overview;
    std::string line =
        fmt::format("{}  {} by {}{} in {}",
                    base::make_harmless(report.trace),
                    counted(all.calls, "call"),
                    all.processes == 1 ? std::string("1 process")
                                       : with_separators(all.processes) + " processes",
                    all.hosts > 1 ? fmt::format(" on {} hosts", with_separators(all.hosts)) : "",
                    duration_text(all.span_ns));
    if (report.stored_bytes > 0) {
        line += " · " + bytes_text(report.stored_bytes);
    }
    line += " · " + losses_text(report);
    return line + (report.recording ? " · still recording\n" : "\n");
}

class Page {
  public:
    explicit Page(const ReportStyle& style) : style_(style) {}

    void title(std::string_view text) {
        out_.push_back('\n');
        out_.append(kIndent, ' ');
        const format::Painted painted(out_, style_.colour, format::Colour::kBold);
        out_.append(text);
        // the line ends after the colour
    }
    void end_line() { out_.push_back('\n'); }
    void line(std::string_view text) { out_.append(kIndent, ' ').append(text).push_back('\n'); }
    void table(const Table& table, bool titles = true) {
        out_.append(table.text(style_.width, titles, style_.colour));
    }
    std::string& out() { return out_; }

  private:
    ReportStyle style_;
    std::string out_;
};

void add_titled(Page& page, std::string_view title, const Table& table) {
    if (table.rows() > 0) {
        page.title(title);
        page.end_line();
        page.table(table);
    }
}

// The percentiles give way to the names where the terminal is narrow.
constexpr std::size_t kWidthOfPercentiles = 100;

std::vector<std::string> activity_cells(const analysis::ActivityRow& a,
                                        const std::string& process,
                                        bool percentiles) {
    std::vector<std::string> cells{process,
                                   a.verb,
                                   a.target,
                                   with_separators(a.calls),
                                   bytes_or_dash(a.bytes),
                                   time_or_dash(a.times.total_ns)};
    if (percentiles) {
        cells.push_back(time_or_dash(a.times.p50_ns));
        cells.push_back(time_or_dash(a.times.p99_ns));
    }
    cells.push_back(time_or_dash(a.times.max_ns));
    return cells;
}

// The processes that took most time, each with what it did, the process's name once.
void add_activities(Page& page, const analysis::Report& report, bool percentiles) {
    std::vector<format::TableColumn> columns{{"what happened", Align::kLeft, Fit::kCutsEnd},
                                             {"", Align::kLeft},
                                             {"", Align::kLeft, Fit::kCutsMiddle},
                                             {"calls", Align::kRight},
                                             {"bytes", Align::kRight},
                                             {"time", Align::kRight}};
    for (const char* title : {"p50", "p99", "max"}) {
        if (percentiles || std::string_view(title) == "max") {
            columns.push_back({title, Align::kRight});
        }
    }
    Table table(std::move(columns), kIndent);
    std::vector<std::string> processes;
    for (const analysis::ActivityRow& activity : report.activities) {
        if (std::find(processes.begin(), processes.end(), activity.process) == processes.end()) {
            processes.push_back(activity.process);
        }
    }
    processes.resize(std::min(processes.size(), kProcessesShown));
    for (const std::string& process : processes) {
        std::size_t rows = 0;
        for (const analysis::ActivityRow& activity : report.activities) {
            if (activity.process == process && rows < kRowsPerProcess) {
                table.add(activity_cells(activity, rows++ == 0 ? process : "", percentiles));
            }
        }
    }
    if (table.rows() > 0) {
        page.end_line();
        page.table(table);
    }
}

constexpr std::string_view kFindingIndent = "    ";  // under the words, not the dot

void add_findings(Page& page, const analysis::Report& report, std::size_t width) {
    const std::vector<analysis::Finding> findings = analysis::findings_of(report);
    if (findings.empty()) {
        return;
    }
    page.title("worth a look");
    page.end_line();
    for (const analysis::Finding& finding : findings) {
        page.line(base::wrapped(
            "· " + base::make_harmless(finding.text), width - kIndent, kFindingIndent));
    }
}

void add_calls(Page& page, const analysis::Report& report) {
    Table table({{"call", Align::kLeft},
                 {"calls", Align::kRight},
                 {"failed", Align::kRight},
                 {"bytes", Align::kRight},
                 {"time", Align::kRight},
                 {"p50", Align::kRight},
                 {"p99", Align::kRight},
                 {"max", Align::kRight}},
                kIndent);
    for (const analysis::CallRow& call : report.calls) {
        table.add({call.name,
                   with_separators(call.calls),
                   count_or_nothing(call.errors),
                   bytes_or_dash(call.bytes),
                   time_or_dash(call.times.total_ns),
                   time_or_dash(call.times.p50_ns),
                   time_or_dash(call.times.p99_ns),
                   time_or_dash(call.times.max_ns)});
    }
    add_titled(page, "calls that took most time", table);
}

void add_targets(Page& page, std::string_view title, const std::vector<analysis::TargetRow>& rows) {
    Table table({{"", Align::kLeft, Fit::kCutsMiddle},
                 {"by", Align::kLeft, Fit::kCutsEnd},
                 {"calls", Align::kRight},
                 {"read", Align::kRight},
                 {"written", Align::kRight},
                 {"time", Align::kRight}},
                kIndent);
    for (const analysis::TargetRow& row : rows) {
        const std::string by = row.processes > 1
                                   ? fmt::format("{} and {} more", row.process, row.processes - 1)
                                   : row.process;
        table.add({row.target,
                   by,
                   with_separators(row.calls),
                   bytes_or_dash(row.read_bytes),
                   bytes_or_dash(row.written_bytes),
                   time_or_dash(row.total_ns)});
    }
    add_titled(page, title, table);
}

void add_threads(Page& page, const analysis::Report& report) {
    Table table({{"thread", Align::kLeft, Fit::kCutsEnd},
                 {"watched", Align::kRight},
                 {"blocked", Align::kRight},
                 {"files", Align::kRight},
                 {"network", Align::kRight},
                 {"pipes", Align::kRight},
                 {"waiting", Align::kRight},
                 {"other", Align::kRight}},
                kIndent);
    for (const analysis::ThreadTime& t : report.threads) {
        if (t.blocked_ns() == 0) {
            continue;
        }
        const double part =
            t.span_ns == 0
                ? 0
                : std::min(1.0,
                           static_cast<double>(t.blocked_ns()) / static_cast<double>(t.span_ns));
        table.add({t.thread,
                   time_or_dash(t.span_ns),
                   base::percent_text(part),
                   time_or_dash(t.file_ns),
                   time_or_dash(t.network_ns),
                   time_or_dash(t.pipe_ns),
                   time_or_dash(t.wait_ns),
                   time_or_dash(t.other_ns)});
    }
    add_titled(page, "time blocked inside calls", table);
}

void add_sources(Page& page,
                 std::string_view words,
                 const std::set<std::string>& sources,
                 std::size_t width) {
    if (!sources.empty()) {
        const std::string text = fmt::format("· {}{}", words, fmt::join(sources, ", "));
        page.line(base::wrapped(base::make_harmless(text), width - kIndent, kFindingIndent));
    }
}

void add_missing(Page& page, const analysis::Report& report, std::size_t width) {
    if (report.gaps.empty() && report.not_covered.empty()) {
        return;
    }
    page.title("what is missing here");
    page.end_line();
    for (const analysis::GapRow& gap : report.gaps) {
        const std::string lost = gap.unknown == gap.gaps
                                     ? std::string("an unknown number of events")
                                 : gap.lost == 0 ? std::string("facts about events")
                                                 : counted(gap.lost, "event");
        page.line(base::make_harmless(fmt::format("· {}: {} lost in {} of {} ({})",
                                                  gap.host,
                                                  lost,
                                                  counted(gap.gaps, "gap"),
                                                  duration_text(gap.total_ns),
                                                  gap.reason)));
    }
    std::set<std::string> unseen;  // the same for every recording: by name only
    std::set<std::string> in_part;
    for (const analysis::CoverageRow& row : report.not_covered) {
        if (row.state != "refused") {
            (row.state == "off" ? unseen : in_part).insert(row.source);
            continue;
        }
        page.line(base::make_harmless(fmt::format("· {}: {} {}{}{}",
                                                  row.host,
                                                  row.source,
                                                  row.state,
                                                  row.reason.empty() ? "" : ": ",
                                                  row.reason)));
    }
    add_sources(page, "not seen: ", unseen, width);
    add_sources(page, "seen in part: ", in_part, width);
    if (!report.not_covered.empty()) {
        page.line("· the table `coverage` says why, and `dyetrace doctor` what helps");
    }
}

}  // namespace

std::string report_text(const analysis::Report& report, const ReportStyle& style) {
    Page page(style);
    page.line(head_line(report));
    page.out().pop_back();
    if (report.overview.calls == 0) {
        page.line("no call was recorded; `dyetrace doctor` says what this machine allows");
    }
    add_activities(page, report, style.width >= kWidthOfPercentiles);
    add_findings(page, report, style.width);
    add_targets(page, "files with most bytes", report.files);
    add_targets(page, "connections with most bytes", report.sockets);
    add_calls(page, report);
    add_threads(page, report);
    add_missing(page, report, style.width);
    return std::move(page.out());
}

}  // namespace dyetrace::reports
