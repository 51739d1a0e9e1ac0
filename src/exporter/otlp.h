// A trace as OpenTelemetry spans: OTLP in JSON, an ExportTraceServiceRequest per line, as the collector's file exporter writes and
// its file receiver reads it.
//
//   process curl 4711                     a trace of its own; its span is from its first event to the end of its last
//   ├─ openat                             a span per event
//   ├─ recvmsg
//   │  └─ recvmsg                         parts of a call are below it
//   └─ recvfrom ┄┄link┄┄► sendto          where its bytes came from, in another process too
//
//   OtlpWriter writer(scene, names, sink);
//   TRY(writer.add(event));               process by process
//   TRY(writer.end());
//
// Ids are made of the ids of the trace and of the boot ids of its hosts: the same trace gives the same bytes.
//
// Limits: a line has one process and kSpansMax of its spans.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exporter/event.h"

namespace dyetrace::exporter {

// `name` as OpenTelemetry's conventions call it: path is file.path; what they have no word for is dyetrace.`name`.
std::string otlp_name(std::string_view name);

class OtlpWriter {
  public:
    static constexpr std::size_t kSpansMax = 512;

    // `scene` must outlive it.
    OtlpWriter(const Scene& scene, const std::vector<ValueName>& names, Sink sink);

    Result<void> add(const Event& event);
    Result<void> end();

  private:
    struct Key {
        std::string text;  // {"key":"file.path","value":
        ValueKind kind = ValueKind::kText;
    };

    void begin_line(std::uint64_t process_id);
    void end_line();
    Result<void> end_process();
    Result<void> flush(std::size_t at_least);
    void append_span(const Event& event);
    void append_links(const Event& event);
    void append_process_span();
    void append_ids(std::uint64_t process_id, std::uint64_t span);
    std::uint64_t seed_of(std::uint64_t process_id) const;
    std::uint64_t span_of_event(std::uint64_t process_id, std::uint64_t event) const;
    std::uint64_t span_of_process(std::uint64_t process_id) const;

    const Scene& scene_;
    std::vector<Key> keys_;
    Sink sink_;
    std::optional<std::uint64_t> process_;  // whose spans are written
    std::int64_t first_ns_ = 0, last_ns_ = 0;
    std::size_t spans_ = 0;  // in the line
    std::string out_;
};

}  // namespace dyetrace::exporter
