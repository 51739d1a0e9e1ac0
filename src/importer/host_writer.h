// Writes what a log says of one host as the records that a recorder would have made: one CPU, times as the log has them.
//
//   TRY(HostWriter host, HostWriter::create("old.trace", info));
//   const std::uint32_t who = host.announce(TaskFacts{.pid = 71, .tid = 71, .comm = "git"}, time_ns);
//   const std::uint32_t what = host.announce(ObjectFacts{.object_id = host.new_object(), .path = "/etc/passwd"}, time_ns);
//   host.add(event, {{Attachment::kPath, "/etc/passwd"}});      event.context_id = who, event.handle_id = what
//   TRY(host.finish());
//
// Failure: of the disk; the first one is kept, and flush() and finish() return it. Limits: one thread; memory as a SegmentWriter
// with one CPU.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "schema/generated/records.h"
#include "trace/segment_writer.h"
#include "trace/trace_folder.h"

namespace dyetrace::importer {

// What no log tells: (uid_t)-1, which no user has.
inline constexpr std::uint32_t kUserUnknown = 0xffffffff;

struct TaskFacts {
    std::uint32_t pid = 0;
    std::uint32_t tid = 0;
    std::uint32_t ppid = 0;
    std::uint64_t process_start_ns = 0;
    std::uint64_t thread_start_ns = 0;
    std::uint64_t parent_start_ns = 0;  // 0: not known
    std::string comm = {};              // cut at 15 bytes
    std::string exe = {};               // empty: not known
    std::string command = {};           // words, each ended by NUL; empty: not known
    bool operator==(const TaskFacts&) const = default;
};

struct SocketFacts {
    std::uint16_t family = 0;
    std::uint16_t socket_type = 0;
    std::uint16_t protocol = 0;
    std::string local_address = {};  // as text: IPv4 or IPv6; empty: not known
    std::string remote_address = {};
    std::uint16_t local_port = 0;
    std::uint16_t remote_port = 0;
    std::uint64_t connection_id = 0;
    std::uint32_t peer_object_id = 0;  // of a unix socket
    std::string unix_path = {}, unix_peer_path = {};
    bool operator==(const SocketFacts&) const = default;
};

struct ObjectFacts {
    std::uint32_t object_id = 0;
    schema::ObjectType type = schema::ObjectType::kUnknown;
    std::uint64_t inode = 0;  // 0: not known
    std::uint32_t mode = 0;
    std::uint32_t device = 0;
    std::string file_system = {};
    std::string path = {};  // empty: not known
    std::optional<SocketFacts> socket = std::nullopt;
    bool operator==(const ObjectFacts&) const = default;
};

using Attached = std::pair<schema::Attachment, std::string_view>;

class HostWriter {
  public:
    // Makes the folder of the trace, or of the host's part of one.
    static Result<HostWriter> create(const std::string& path, trace::TraceInfo info);

    const trace::Host& host() const { return folder_->info().hosts.front(); }

    std::uint32_t announce(const TaskFacts& task, std::uint64_t time_ns);      // a new context_id
    std::uint32_t announce(const ObjectFacts& object, std::uint64_t time_ns);  // a new handle_id
    std::uint32_t new_object() { return ++objects_; }

    // Header and `attachments` are filled in. Returns the event's sequence on CPU 0.
    template <typename Event>
    std::uint64_t add(Event event, std::span<const Attached> attached = {}) {
        ++events_;
        return add_follower(event, attached);
    }
    // The same of what belongs to the event before it: an event_object, a part_event.
    template <typename Event>
    std::uint64_t add_follower(Event event, std::span<const Attached> attached = {}) {
        see(event);
        put(schema::Stream::kEvents, event, attached);
        return event_sequence_ - 1;
    }
    template <typename Fact>
    void add_fact(Fact fact, std::span<const Attached> attached = {}) {
        put(schema::Stream::kFacts, fact, attached);
    }

    void say_coverage(std::string_view source,
                      schema::CoverageState state,
                      std::string_view reason);
    // Lines of the log that are no events in the trace.
    void count_lost(std::uint64_t lines) { lost_ += lines; }

    std::uint64_t events() const { return events_; }
    std::uint64_t begin_ns() const { return end_ns_ == 0 ? 0 : begin_ns_; }

    // Writes out what waits if there is much of it.
    Result<void> flush_if_full();
    // The accounting, a gap if lines were lost, the end of the trace. Calling it again is a mistake.
    Result<trace::SegmentWriterTotals> finish();
    // Instead: removes its folder.
    void discard() { folder_->discard(); }

  private:
    HostWriter(std::unique_ptr<trace::TraceFolder> folder, trace::SegmentWriter writer)
        : folder_(std::move(folder)), writer_(std::move(writer)) {}

    template <typename Record>
    void put(schema::Stream stream, Record& record, std::span<const Attached> attached);
    template <typename Event>
    void see(const Event& event);
    Result<void> flush();

    std::unique_ptr<trace::TraceFolder> folder_;  // stays where it is: the writer knows it
    trace::SegmentWriter writer_;
    std::vector<std::byte> facts_, records_;
    std::uint64_t event_sequence_ = 0, fact_sequence_ = 0;
    std::uint32_t contexts_ = 0, handles_ = 0, objects_ = 0;
    std::uint64_t events_ = 0, lost_ = 0;
    std::uint64_t begin_ns_ = UINT64_MAX, end_ns_ = 0;
};

}  // namespace dyetrace::importer
