// dyetrace report: says on one screen what happened in a trace.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "apps/cli/clock_option.h"
#include "apps/cli/output.h"
#include "apps/cli/verbs.h"
#include "apps/store/confine_reader.h"
#include "base/log.h"
#include "format/colour.h"
#include "format/table.h"
#include "query/clock/derived_clock_map.h"
#include "query/damages.h"
#include "reports/overview/report_reader.h"
#include "reports/overview/report_text.h"
#include "store/database.h"

namespace dyetrace::apps {
namespace {

struct ReportArguments {
    std::string trace;
    bool json = false;
    std::string clock = "cluster";
};

Result<analysis::Report> report_of(const ReportArguments& arguments) {
    const std::string& path = arguments.trace;
    TRY(const std::unique_ptr<store::Database> database, store::Database::open(path, {}));
    query::use_clock(*database, arguments.clock);
    query::say_damages(*database, base::Log::to_stderr());
    return reports::read_report(*database);
}

int run_report(const ReportArguments& arguments) {
    confine_reader(base::Log::to_stderr(), {arguments.trace});
    const Result<analysis::Report> report = report_of(arguments);
    if (!report.ok()) {
        base::Log::to_stderr().fail(report.error());
        return exit_status_of(report.error());
    }
    const reports::ReportStyle style{
        format::terminal_width(STDOUT_FILENO),
        format::wants_colour(format::ColourMode::kAuto, STDOUT_FILENO)};
    const std::string text = arguments.json ? reports::report_json(report.value())
                                            : reports::report_text(report.value(), style);
    put(text);
    return 0;
}

}  // namespace

void add_report(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<ReportArguments>();
    CLI::App* verb = app.add_subcommand("report", "Say on one screen what happened in a trace");
    verb->add_option("trace", arguments->trace, "Folder of the trace; it may still be recorded")
        ->type_name("TRACE")
        ->required();
    verb->add_flag("--json", arguments->json, "One JSON object");
    add_clock_option(*verb, arguments->clock);
    verb->footer("Examples:\n  dyetrace report web1.trace\n  dyetrace report web1.trace --json");
    verb->callback([arguments, &exit_status] { exit_status = run_report(*arguments); });
}

}  // namespace dyetrace::apps
