// dyetrace export: a trace in the formats of other tools.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <memory>
#include <string>

#include "apps/cancel_on_interrupt.h"
#include "apps/clock_maker.h"
#include "apps/damages.h"
#include "apps/export_events.h"
#include "apps/export_file.h"
#include "apps/export_packets.h"
#include "apps/export_scene.h"
#include "apps/verbs.h"
#include "apps/whole_database.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "exporter/otlp.h"
#include "exporter/perfetto.h"
#include "store/row_writer.h"

namespace dyetrace::apps {
namespace {

constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;

struct ExportArguments {
    std::string trace, output, where, memory = "2GB", clock = "cluster";
    bool perfetto = false, otlp = false, csv = false, parquet = false, pcapng = false;
    bool without_flows = false, without_arguments = false;

    int formats() const { return perfetto + otlp + csv + parquet + pcapng; }
    ExportQuestion question(ExportOrder order) const {
        return {.where = where,
                .order = order,
                .with_flows = !without_flows,
                .with_arguments = !without_arguments};
    }
    // The table as it is.
    std::string select() const {
        return fmt::format("SELECT * {} ORDER BY time, event_id", exported_events(where));
    }
};

const std::atomic<bool>& cancelled() {
    return CancelOnInterrupt::cancelled();
}

exporter::Sink sink_to(ExportFile& file) {
    return [&file](std::string_view bytes) { return file.write(bytes); };
}

Result<std::string> export_perfetto(store::Database& database,
                                    const ExportArguments& arguments,
                                    ExportFile& file,
                                    const base::Log& log) {
    TRY(const exporter::Scene scene, read_scene(database));
    TRY(const exporter::PerfettoClock clock, perfetto_clock(database, arguments.clock));
    exporter::PerfettoWriter writer(scene, exported_values(), sink_to(file));
    TRY(writer.begin(clock));
    TRY(each_gap(database, arguments.clock, [&](const exporter::LostEvents& lost) {
        return writer.add(lost);
    }));
    TRY(const std::uint64_t events,
        each_event(database,
                   arguments.question(ExportOrder::kTime),
                   cancelled(),
                   [&](const exporter::Event& event) { return writer.add(event); }));
    TRY(writer.end());
    if (writer.crowded() > 0) {
        log.warn(fmt::format("{} calls of threads with more than {} under way have no length",
                             base::with_separators(writer.crowded()),
                             exporter::PerfettoWriter::kLanesMax));
    }
    return base::with_separators(events) + " events";
}

Result<std::string> export_otlp(store::Database& database,
                                const ExportArguments& arguments,
                                ExportFile& file) {
    TRY(const exporter::Scene scene, read_scene(database));
    exporter::OtlpWriter writer(scene, exported_values(), sink_to(file));
    TRY(const std::uint64_t events,
        each_event(database,
                   arguments.question(ExportOrder::kProcess),
                   cancelled(),
                   [&](const exporter::Event& event) { return writer.add(event); }));
    TRY(writer.end());
    return base::with_separators(events) + " events";
}

Result<std::string> export_csv(store::Database& database,
                               const ExportArguments& arguments,
                               ExportFile& file) {
    TRY(database.query(
        arguments.select(),
        [&](store::Rows& rows) {
            return store::write_rows(rows, store::RowFormat::kCsv, 0, sink_to(file));
        },
        &cancelled()));
    return std::string("all columns of events");
}

void say_packets(const ExportedPackets& done, const base::Log& log) {
    if (done.without > 0) {
        log.warn(
            fmt::format("{} calls on sockets that are no TCP and no UDP of IP are left out: "
                        "they have no packets",
                        base::with_separators(done.without)));
    }
    if (done.missing > 0) {
        log.warn(
            fmt::format("{} bytes that these calls moved are not in the trace, and missing "
                        "in the packets",
                        base::with_separators(done.missing)));
    }
    if (done.redacted > 0) {
        log.warn(fmt::format("{} bytes of this trace are redacted: they are '*'",
                             base::with_separators(done.redacted)));
    }
    if (done.damaged > 0) {
        log.warn(fmt::format("{} blocks of the payload are damaged", done.damaged));
    }
    if (!done.is_complete) {
        log.warn("the recording has not ended, or ended early: what moved last may be missing");
    }
}

Result<std::string> export_pcapng(store::Database& database,
                                  const ExportArguments& arguments,
                                  ExportFile& file,
                                  const base::Log& log) {
    TRY(const ExportedPackets done,
        export_packets(database, arguments.where, cancelled(), sink_to(file)));
    say_packets(done, log);
    return fmt::format("the bytes of {} calls", base::with_separators(done.calls));
}

// DuckDB writes it, beside the file that it becomes.
Result<void> export_parquet(store::Database& database, const ExportArguments& arguments) {
    const std::string draft = fmt::format("{}.new-{}", arguments.output, ::getpid());
    Result<void> written = database.write_parquet(arguments.select(), draft);
    written = written.ok() ? base::rename_file(draft, arguments.output) : std::move(written);
    if (!written.ok()) {
        ::unlink(draft.c_str());
    }
    return written;
}

Result<void> export_to_file(store::Database& database,
                            const ExportArguments& arguments,
                            const base::Log& log) {
    if (arguments.parquet) {
        return export_parquet(database, arguments);
    }
    const bool is_text = arguments.csv || arguments.otlp;
    TRY(ExportFile file,
        ExportFile::open(arguments.output,
                         is_text ? ExportFile::Kind::kText : ExportFile::Kind::kBinary));
    TRY(const std::string what,
        arguments.perfetto ? export_perfetto(database, arguments, file, log)
        : arguments.otlp   ? export_otlp(database, arguments, file)
        : arguments.csv    ? export_csv(database, arguments, file)
                           : export_pcapng(database, arguments, file, log));
    TRY(file.commit());
    if (!arguments.output.empty()) {
        log.say(fmt::format("{}: {} · {}", arguments.output, what, base::bytes_text(file.bytes())));
    }
    return {};
}

Result<void> export_trace(const ExportArguments& arguments, const base::Log& log) {
    TRY(const auto database,
        open_whole_database(
            arguments.trace,
            {.database = {.memory_limit = arguments.memory}, .clock = arguments.clock}));
    say_damages(*database, log);
    if (const std::string losses = database->losses().text(); !losses.empty()) {
        log.warn(fmt::format("the trace has {}; the table `gaps` says where", losses));
    }
    return export_to_file(*database, arguments, log);
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
    std::signal(SIGPIPE, SIG_IGN);  // whoever reads may go: an error of write
    const CancelOnInterrupt scope;  // nothing half is left behind
    const Result<void> done = export_trace(arguments, log);
    if (!done.ok()) {
        log.fail(done.error());
        return kExitFailure;
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
                   "No words of calls' flags and numbers: a large trace takes a third of the time");
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
