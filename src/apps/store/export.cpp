// dyetrace export: a trace in the formats of other tools.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <memory>
#include <string>

#include "apps/cli/clock_option.h"
#include "apps/cli/verbs.h"
#include "apps/store/cancel_on_interrupt.h"
#include "apps/store/confine_reader.h"
#include "apps/store/export_progress.h"
#include "apps/store/sql_status.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "query/analysis_database.h"
#include "query/clock/derived_clock_map.h"
#include "query/damages.h"
#include "reports/export/export_file.h"
#include "reports/export/export_formats.h"
#include "trace/trace_folder.h"

namespace dyetrace::apps {
namespace {

struct ExportArguments {
    std::string trace, output, where, memory = "2GB", clock = "cluster";
    bool perfetto = false, otlp = false, csv = false, parquet = false, pcapng = false;
    bool without_flows = false, without_arguments = false;

    int formats() const { return perfetto + otlp + csv + parquet + pcapng; }
    std::string from() const { return where.empty() ? "events" : reports::exported_events(where); }
    reports::ExportPlan plan() const {
        return {.format = perfetto ? reports::ExportFormat::kPerfetto
                          : otlp   ? reports::ExportFormat::kOtlp
                          : csv    ? reports::ExportFormat::kCsv
                                   : reports::ExportFormat::kPcapng,
                .from = from(),
                .clock = clock,
                .with_flows = !without_flows,
                .with_arguments = !without_arguments};
    }
};

const std::atomic<bool>& cancelled() {
    return CancelOnInterrupt::cancelled();
}

// DuckDB writes it, beside the file that it becomes.
Result<void> export_parquet(store::Database& database,
                            const ExportArguments& arguments,
                            const std::string& draft) {
    TRY([[maybe_unused]] const base::Fd file,
        base::create_draft(draft, base::kPrivateFile));  // DuckDB would let everybody read it
    const ExportProgress progress(STDERR_FILENO);
    Result<void> written =
        database.write_parquet(reports::exported_table(arguments.from()), draft, &cancelled());
    written = written.ok() ? base::rename_file(draft, arguments.output) : std::move(written);
    if (!written.ok()) {
        ::unlink(draft.c_str());
    }
    return written;
}

Result<reports::Exported> write_with_progress(store::Database& database,
                                              const ExportArguments& arguments,
                                              reports::ExportFile& file) {
    ExportProgress progress(STDERR_FILENO);
    const bool is_seen = arguments.output.empty() && ::isatty(STDOUT_FILENO) == 1;
    return reports::write_export(
        database, arguments.plan(), cancelled(), [&](std::string_view bytes) {
            progress.count(bytes.size());
            if (is_seen) {
                progress.end();
            }
            return file.write(bytes);
        });
}

Result<void> export_to_file(store::Database& database,
                            const ExportArguments& arguments,
                            const base::Log& log) {
    const bool is_text = arguments.csv || arguments.otlp;
    TRY(reports::ExportFile file,
        reports::ExportFile::open(
            arguments.output,
            is_text ? reports::ExportFile::Kind::kText : reports::ExportFile::Kind::kBinary));
    TRY(const reports::Exported done, write_with_progress(database, arguments, file));
    TRY(file.commit());
    for (const std::string& warning : done.warnings) {
        log.warn(warning);
    }
    if (!arguments.output.empty()) {
        log.say(fmt::format(
            "{}: {} · {}", arguments.output, done.what, base::bytes_text(file.bytes())));
    }
    return {};
}

Result<void> export_trace(const ExportArguments& arguments, const base::Log& log) {
    const std::string draft = arguments.parquet ? base::begin_draft(arguments.output) : "";
    query::AnalysisDatabaseOptions options{.database = {.memory_limit = arguments.memory},
                                           .clock = arguments.clock};
    if (arguments.parquet) {
        options.database.files = {draft};
    }
    TRY(const auto database, query::open_analysis_database(arguments.trace, options));
    query::say_damages(*database, log);
    if (const std::string losses = database->losses().text(); !losses.empty()) {
        log.warn(fmt::format("the trace has {}; the table `gaps` says where", losses));
    }
    return arguments.parquet ? export_parquet(*database, arguments, draft)
                             : export_to_file(*database, arguments, log);
}

// What became of the file, and what to do; DuckDB's errors have no code.
std::string failure_text(const Error& error, const std::string& output) {
    const std::string kept =
        output.empty() ? "what went to stdout is no whole export"
                       : fmt::format("nothing of it is kept, '{}' is as it was before", output);
    if (error.code() == ErrorCode::kInterrupted) {
        return fmt::format("the export was interrupted: {}", kept);
    }
    std::string text = error.text();
    if (text.find("ENOSPC") != std::string::npos || text.find("EDQUOT") != std::string::npos ||
        text.find("No space left on device") != std::string::npos) {
        return fmt::format(
            "no room for the export: {}; make room, say -o on another disk ($TMPDIR for what is "
            "sorted), or take less with --where: {}",
            kept,
            text);
    }
    return text;
}

int run_export(const ExportArguments& arguments) {
    const base::Log log = base::Log::to_stderr();
    if (arguments.formats() != 1) {
        log.fail("say which: --perfetto, --otlp, --csv, --parquet or --pcapng, one of them");
        return kExitUsage;
    }
    if (arguments.parquet && arguments.output.empty()) {
        log.fail("--parquet needs -o FILE");
        return kExitUsage;
    }
    if (const Result<void> outside = trace::TraceFolder::expect_outside(arguments.output);
        !outside.ok()) {
        log.fail(outside.error());
        return exit_status_of(outside.error());
    }
    std::signal(SIGPIPE, SIG_IGN);  // whoever reads may go: an error of write
    confine_reader(log, {arguments.trace}, {arguments.output});
    const CancelOnInterrupt scope(CancelOnInterrupt::kEndings);  // nothing half is left behind
    const Result<void> done = export_trace(arguments, log);
    if (!done.ok()) {
        log.fail(failure_text(done.error(), arguments.output));
        return exit_status_of_sql(done.error());
    }
    return 0;
}

}  // namespace

void add_export(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<ExportArguments>();
    CLI::App* verb = app.add_subcommand("export", "Write a trace in the format of another tool");
    verb->add_option("trace", arguments->trace, "Folder of the trace; it may still be recorded")
        ->type_name("TRACE")
        ->required();
    verb->add_flag("--perfetto", arguments->perfetto, "Perfetto's format, for ui.perfetto.dev");
    verb->add_flag(
        "--otlp", arguments->otlp, "OpenTelemetry spans: OTLP in JSON, a request a line");
    verb->add_flag("--csv", arguments->csv, "The table events as CSV");
    verb->add_flag("--parquet", arguments->parquet, "The table events as a Parquet file");
    verb->add_flag("--pcapng",
                   arguments->pcapng,
                   "What went over TCP and UDP as packets, for Wireshark; of a trace with "
                   "--content=bytes");
    verb->add_option("-o,--output", arguments->output, "Write there instead of to stdout")
        ->type_name("FILE");
    verb->add_option("--where",
                     arguments->where,
                     "Only events for which this is true: a condition in SQL on the columns of "
                     "events")
        ->type_name("CONDITION");
    verb->add_flag("--without-flows",
                   arguments->without_flows,
                   "No arrows or links between the events that had the same bytes");
    verb->add_flag("--without-arguments",
                   arguments->without_arguments,
                   "No words of calls' flags and numbers");
    verb->add_option("--memory", arguments->memory, "What may be held at once; the rest is on disk")
        ->capture_default_str()
        ->type_name("SIZE");
    add_clock_option(*verb, arguments->clock);
    verb->footer(
        "Examples:\n"
        "  dyetrace export trace --perfetto -o trace.pftrace\n"
        "  dyetrace export trace --perfetto --where \"class <> 'memory'\" -o trace.pftrace\n"
        "  dyetrace export trace --otlp | gzip > spans.jsonl.gz\n"
        "  dyetrace export trace --parquet -o events.parquet\n"
        "  dyetrace export trace --pcapng -o trace.pcapng; wireshark trace.pcapng");
    verb->callback([arguments, &exit_status] { exit_status = run_export(*arguments); });
}

}  // namespace dyetrace::apps
