#include "reports/export/export_formats.h"

#include <fmt/format.h>

#include "base/text.h"
#include "exporter/otlp.h"
#include "exporter/perfetto.h"
#include "query/named_sql.h"
#include "query/sql.h"
#include "reports/export/export_events.h"
#include "reports/export/export_packets.h"
#include "reports/export/export_scene.h"
#include "store/row_writer.h"

namespace dyetrace::reports {
namespace {

using exporter::Sink;

ExportQuestion question_of(const ExportPlan& plan, ExportOrder order) {
    return {.from = plan.from,
            .order = order,
            .with_flows = plan.with_flows,
            .with_arguments = plan.with_arguments};
}

std::string events_text(std::uint64_t events) {
    return base::with_separators(events) + " events";
}

bool is_wanted(const ExportPlan& plan, const exporter::LostEvents& lost) {
    return !plan.gaps_within_ns || (lost.begin_ns <= plan.gaps_within_ns->second &&
                                    lost.begin_ns + static_cast<std::int64_t>(lost.duration_ns) >=
                                        plan.gaps_within_ns->first);
}

Result<Exported> write_perfetto(store::Database& database,
                                const ExportPlan& plan,
                                const std::atomic<bool>& cancelled,
                                const Sink& sink) {
    TRY(const exporter::Scene scene, read_scene(database));
    TRY(const exporter::PerfettoClock clock, perfetto_clock(database, plan.clock));
    exporter::PerfettoWriter writer(scene, exported_values(), sink);
    TRY(writer.begin(clock));
    TRY(each_gap(database, plan.clock, [&](const exporter::LostEvents& lost) {
        return is_wanted(plan, lost) ? writer.add(lost) : Result<void>();
    }));
    TRY(const std::uint64_t events,
        each_event(database,
                   question_of(plan, ExportOrder::kTime),
                   cancelled,
                   [&](const exporter::Event& event) { return writer.add(event); }));
    TRY(writer.end());
    Exported done{.what = events_text(events), .warnings = {}};
    if (writer.crowded() > 0) {
        done.warnings.push_back(
            fmt::format("{} calls of threads with more than {} under way have no length",
                        base::with_separators(writer.crowded()),
                        exporter::PerfettoWriter::kLanesMax));
    }
    return done;
}

Result<Exported> write_otlp(store::Database& database,
                            const ExportPlan& plan,
                            const std::atomic<bool>& cancelled,
                            const Sink& sink) {
    TRY(const exporter::Scene scene, read_scene(database));
    exporter::OtlpWriter writer(scene, exported_values(), sink);
    TRY(const std::uint64_t events,
        each_event(database,
                   question_of(plan, ExportOrder::kProcess),
                   cancelled,
                   [&](const exporter::Event& event) { return writer.add(event); }));
    TRY(writer.end());
    return Exported{.what = events_text(events), .warnings = {}};
}

Result<Exported> write_csv(store::Database& database,
                           const ExportPlan& plan,
                           const std::atomic<bool>& cancelled,
                           const Sink& sink) {
    TRY(database.query(
        exported_table(plan.from),
        [&](store::Rows& rows) { return store::write_rows(rows, store::RowFormat::kCsv, 0, sink); },
        &cancelled));
    return Exported{.what = "all columns of events", .warnings = {}};
}

std::vector<std::string> warnings_of(const ExportedPackets& done) {
    std::vector<std::string> warnings;
    const auto warn_of = [&](std::uint64_t count, const char* words) {
        if (count > 0) {
            warnings.push_back(fmt::format(fmt::runtime(words), base::with_separators(count)));
        }
    };
    warn_of(done.without,
            "{} calls on sockets that are no TCP and no UDP of IP are left out: they have no "
            "packets");
    warn_of(done.missing,
            "{} bytes that these calls moved are not in the trace, and missing in the packets");
    warn_of(done.redacted, "{} bytes of this trace are redacted: they are '*'");
    warn_of(done.damaged, "{} blocks of the payload are damaged");
    if (!done.is_complete) {
        warnings.emplace_back(
            "the recording has not ended, or ended early: what moved last may be missing");
    }
    return warnings;
}

Result<Exported> write_pcapng(store::Database& database,
                              const ExportPlan& plan,
                              const std::atomic<bool>& cancelled,
                              const Sink& sink) {
    TRY(const ExportedPackets done, export_packets(database, plan.from, cancelled, sink));
    return Exported{.what = fmt::format("the bytes of {} calls", base::with_separators(done.calls)),
                    .warnings = warnings_of(done)};
}

}  // namespace

std::string exported_table(const std::string& from) {
    return query::filled(query::sql::kExportTable, {{"from", query::SqlPiece{from}}});
}

std::string exported_events(const std::string& condition) {
    return query::filled(query::sql::kExportChosen, {{"condition", query::SqlPiece{condition}}});
}

Result<Exported> write_export(store::Database& database,
                              const ExportPlan& plan,
                              const std::atomic<bool>& cancelled,
                              const Sink& sink) {
    // Once rows come, the database no longer looks.
    const Sink watched = [&](std::string_view bytes) -> Result<void> {
        if (cancelled) {
            return Error(ErrorCode::kInterrupted, "interrupted");
        }
        return sink(bytes);
    };
    switch (plan.format) {
        case ExportFormat::kPerfetto:
            return write_perfetto(database, plan, cancelled, watched);
        case ExportFormat::kOtlp:
            return write_otlp(database, plan, cancelled, watched);
        case ExportFormat::kCsv:
            return write_csv(database, plan, cancelled, watched);
        case ExportFormat::kPcapng:
            break;
    }
    return write_pcapng(database, plan, cancelled, watched);
}

}  // namespace dyetrace::reports
