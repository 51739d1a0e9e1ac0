// The same report for programs: one object, the names of report_rows.h.
#include "analysis/findings/report_findings.h"
#include "base/json.h"
#include "reports/overview/finding_proof.h"
#include "reports/overview/report_text.h"

namespace dyetrace::reports {
namespace {

using base::Json;

void set_times(Json& row, const analysis::Times& times) {
    row.set("duration_ns", times.total_ns)
        .set("p50_ns", times.p50_ns)
        .set("p99_ns", times.p99_ns)
        .set("max_ns", times.max_ns);
}

template <typename Rows, typename Make>
Json array_of(const Rows& rows, Make make) {
    Json array = Json::array();
    for (const auto& row : rows) {
        Json object = Json::object();
        make(object, row);
        array.append(std::move(object));
    }
    return array;
}

Json overview_of(const analysis::Report& report) {
    const analysis::Overview& all = report.overview;
    Json json = Json::object();
    json.set("calls", all.calls)
        .set("failed", all.failed)
        .set("unfinished", all.unfinished)
        .set("processes", all.processes);
    json.set("threads", all.threads)
        .set("hosts", all.hosts)
        .set("span_ns", all.span_ns)
        .set("stored_bytes", report.stored_bytes);
    return json;
}

Json targets_of(const std::vector<analysis::TargetRow>& rows) {
    return array_of(rows, [](Json& json, const analysis::TargetRow& row) {
        json.set("target", row.target)
            .set("process", row.process)
            .set("processes", row.processes)
            .set("calls", row.calls);
        json.set("read_bytes", row.read_bytes)
            .set("written_bytes", row.written_bytes)
            .set("duration_ns", row.total_ns);
    });
}

Json threads_of(const analysis::Report& report) {
    return array_of(report.threads, [](Json& json, const analysis::ThreadTime& row) {
        json.set("thread", row.thread)
            .set("span_ns", row.span_ns)
            .set("on_cpu_ns", row.on_cpu_ns)
            .set("blocked_ns", row.blocked_ns());
        json.set("file_ns", row.file_ns)
            .set("network_ns", row.network_ns)
            .set("pipe_ns", row.pipe_ns);
        json.set("wait_ns", row.wait_ns).set("other_ns", row.other_ns);
    });
}

Json findings_json(const analysis::Report& report) {
    return array_of(analysis::findings_of(report), [](Json& json, const analysis::Finding& row) {
        json.set("kind", row.kind)
            .set("process", row.process)
            .set("text", row.text)
            .set("cost_ns", row.cost_ns)
            .set("query", proof_of(row))
            .set("hosts_alike", row.hosts_alike);
    });
}

}  // namespace

std::string report_json(const analysis::Report& report) {
    Json json = Json::object();
    json.set("trace", report.trace)
        .set("recording", report.recording)
        .set("overview", overview_of(report));
    json.set("findings", findings_json(report));
    json.set("activities",
             array_of(report.activities, [](Json& object, const analysis::ActivityRow& row) {
                 object.set("process", row.process)
                     .set("verb", row.verb)
                     .set("target", row.target)
                     .set("calls", row.calls)
                     .set("bytes", row.bytes);
                 set_times(object, row.times);
             }));
    json.set("calls", array_of(report.calls, [](Json& object, const analysis::CallRow& row) {
                 object.set("name", row.name)
                     .set("calls", row.calls)
                     .set("errors", row.errors)
                     .set("bytes", row.bytes);
                 set_times(object, row.times);
             }));
    json.set("files", targets_of(report.files))
        .set("sockets", targets_of(report.sockets))
        .set("threads", threads_of(report));
    json.set("gaps", array_of(report.gaps, [](Json& object, const analysis::GapRow& row) {
                 object.set("host", row.host)
                     .set("reason", row.reason)
                     .set("gaps", row.gaps)
                     .set("lost", row.lost);
                 object.set("unknown", row.unknown).set("duration_ns", row.total_ns);
             }));
    json.set("not_covered",
             array_of(report.not_covered, [](Json& object, const analysis::CoverageRow& row) {
                 object.set("host", row.host)
                     .set("source", row.source)
                     .set("state", row.state)
                     .set("reason", row.reason);
             }));
    return json.text() + "\n";
}

}  // namespace dyetrace::reports
