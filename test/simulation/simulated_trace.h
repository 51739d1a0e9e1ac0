// A trace of many hosts, written call by call: what a recorder would have written if it had seen these.
//
//   SimulatedTrace trace(temporary.path() + "/trace");
//   HostPart& host = trace.add_host(0, wall_offset_ns);
//   host.thread(1);                                            context 1
//   host.socket(7, {.connection = 77});                        handle 7
//   host.call({.number = kSendto, .at = 5'000, .handle = 7, .stream_offset = 0, .context = 1});
//   trace.finish();
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schema/record_builder.h"
#include "trace/segment_writer.h"
#include "trace/trace_folder.h"

namespace dyetrace::simulation {

inline constexpr std::uint16_t kClose = 3, kConnect = 42, kAccept = 43, kSendto = 44,
                               kRecvfrom = 45;
inline constexpr std::int64_t kBytes = 100;  // of each message
inline constexpr std::uint16_t kCpus = 4;    // of each host

struct SimulatedSocket {
    std::uint64_t connection = 0;  // TCP; 0: UDP
    std::uint16_t local_port = 0, remote_port = 0;
};

struct SimulatedCall {
    std::uint16_t number = kSendto;
    std::int64_t at = 0;  // CLOCK_BOOTTIME of the host
    std::uint32_t handle = 0;
    std::optional<std::uint64_t> stream_offset = std::nullopt;
    std::uint32_t context = 0;
    std::int64_t bytes = kBytes;
    std::optional<std::uint64_t> fingerprint = std::nullopt;
    std::uint64_t duration_ns = 0, off_cpu_ns = 0;
    schema::Class event_class = schema::Class::kNetwork;
    std::uint16_t cpu = 0;
    bool is_unfinished = false;
};

struct SimulatedThread {
    std::uint32_t pid = 1000, tid = 0;  // 0: 1000 + its context
    std::string comm = "simulated";
};

class HostPart {
  public:
    HostPart(const trace::TraceFolder& whole,
             std::uint16_t index,
             std::int64_t wall_offset_ns,
             const trace::SegmentWriterOptions& options)
        : index_(index) {
        trace::TraceInfo info;
        info.program = "test";
        info.hosts.push_back({.index = index,
                              .name = "host" + std::to_string(index),
                              .boot_id = "b" + std::to_string(index),
                              .kernel = "6.1.0",
                              .machine = "x86_64",
                              .cpus = kCpus,
                              .wall_offset_ns = wall_offset_ns});
        folder_ = std::make_unique<trace::TraceFolder>(
            trace::TraceFolder::create(whole.part_path(index), info).value());
        writer_ = std::make_unique<trace::SegmentWriter>(
            trace::SegmentWriter::create(*folder_, index, options).value());
    }

    // The thread is known by its context.
    void thread(std::uint32_t context, const SimulatedThread& called = {}) {
        schema::TaskContext task{};
        task.context_id = context;
        task.pid = task.pid_in_namespace = called.pid;
        task.tid = called.tid != 0 ? called.tid : 1000 + context;
        task.thread_start_ns = task.process_start_ns = 1;
        std::memcpy(
            task.comm, called.comm.data(), std::min(called.comm.size(), sizeof(task.comm) - 1));
        add(schema::Stream::kFacts, task);
    }

    void socket(std::uint32_t handle, const SimulatedSocket& ends) {
        schema::Handle object{};
        object.handle_id = object.object_id = handle;
        object.inode = handle;
        object.object_type = static_cast<std::uint8_t>(schema::ObjectType::kSocket);
        std::memcpy(object.file_system, "sockfs", 6);
        add(schema::Stream::kFacts, object);
        const bool is_tcp = ends.connection != 0;
        schema::Socket socket{};
        socket.handle_id = socket.object_id = handle;
        socket.connection_id = ends.connection;
        socket.family = 2;
        socket.socket_type = is_tcp ? 1 : 2;
        socket.protocol = is_tcp ? 6 : 17;
        socket.local_port = ends.local_port;
        socket.remote_port = ends.remote_port;
        add(schema::Stream::kFacts, socket);
    }

    // The event's id.
    std::uint64_t call(const SimulatedCall& call) {
        schema::SyscallEvent event{};
        event.syscall = call.number;
        event.start_ns = static_cast<std::uint64_t>(call.at);
        event.handle_id = call.handle;
        event.context_id = call.context;
        event.event_class = static_cast<std::uint8_t>(call.event_class);
        event.duration_ns = call.duration_ns;
        event.off_cpu_ns = call.off_cpu_ns;
        event.present = schema::SyscallEvent::kHasHandle;
        if (call.is_unfinished) {
            event.state = static_cast<std::uint8_t>(schema::State::kUnfinished);
        } else {
            event.present |= schema::SyscallEvent::kHasDuration | schema::SyscallEvent::kHasResult;
        }
        if (call.number == kSendto || call.number == kRecvfrom) {
            event.result = event.bytes = call.bytes;
            event.present |= schema::SyscallEvent::kHasBytes;
        }
        if (call.stream_offset) {
            event.stream_offset = *call.stream_offset;
            event.present |= schema::SyscallEvent::kHasStreamOffset;
        }
        std::string content(24, '\0');  // schema::Content without a sum
        if (call.fingerprint) {
            std::memcpy(content.data(), &*call.fingerprint, sizeof(*call.fingerprint));
        }
        const std::pair<schema::Attachment, std::string_view> attachment = {
            schema::Attachment::kContent, content};
        return static_cast<std::uint64_t>(index_) << 54 |
               static_cast<std::uint64_t>(call.cpu) << 42 |
               add(schema::Stream::kEvents,
                   event,
                   schema::AttachmentList(&attachment, call.fingerprint ? 1 : 0),
                   call.cpu);
    }

    void end_thread(std::uint32_t context, std::int64_t at, const SimulatedThread& called = {}) {
        schema::ThreadEnd end{};
        end.pid = called.pid;
        end.tid = called.tid != 0 ? called.tid : 1000 + context;
        end.thread_start_ns = end.process_start_ns = 1;
        end.end_ns = static_cast<std::uint64_t>(at);
        add(schema::Stream::kFacts, end);
    }

    void gap(std::int64_t begin_ns, std::int64_t end_ns, std::uint64_t lost) {
        schema::Gap gap{};
        gap.begin_ns = static_cast<std::uint64_t>(begin_ns);
        gap.end_ns = static_cast<std::uint64_t>(end_ns);
        gap.lost = lost;
        gap.cpu = UINT32_MAX;
        gap.reason = static_cast<std::uint8_t>(schema::GapReason::kRingFull);
        add(schema::Stream::kFacts, gap);
    }

    void account(const schema::Accounting& accounting) { add(schema::Stream::kFacts, accounting); }

    // What there is can be read.
    void flush() { writer_->flush().value(); }

    void finish() {
        writer_->close().value();
        folder_->finish().value();
    }

    const trace::TraceFolder& folder() const { return *folder_; }

  private:
    // Its sequence number.
    template <typename Record>
    std::uint64_t add(schema::Stream stream,
                      Record record,
                      schema::AttachmentList attachments = {},
                      std::uint16_t cpu = 0) {
        record.header.sequence = sequences_[static_cast<std::size_t>(stream)][cpu]++;
        const schema::OwnedRecord owned = schema::build(record, attachments);
        writer_->append(cpu, stream, owned.bytes()).value();
        return record.header.sequence;
    }

    std::uint16_t index_;
    std::unique_ptr<trace::TraceFolder> folder_;
    std::unique_ptr<trace::SegmentWriter> writer_;
    std::uint64_t sequences_[2][kCpus] = {};  // by stream
};

class SimulatedTrace {
  public:
    explicit SimulatedTrace(const std::string& path) {
        trace::TraceInfo info;
        info.program = "test";
        info.has_parts = true;
        whole_ =
            std::make_unique<trace::TraceFolder>(trace::TraceFolder::create(path, info).value());
    }

    // Valid until finish().
    HostPart& add_host(std::uint32_t index,
                       std::int64_t wall_offset_ns,
                       const trace::SegmentWriterOptions& options = {}) {
        parts_.push_back(std::make_unique<HostPart>(
            *whole_, static_cast<std::uint16_t>(index), wall_offset_ns, options));
        return *parts_.back();
    }
    HostPart& operator[](std::size_t host) { return *parts_[host]; }

    void finish() {
        for (const auto& part : parts_) {
            part->finish();
        }
        whole_->finish().value();
    }

  private:
    std::unique_ptr<trace::TraceFolder> whole_;
    std::vector<std::unique_ptr<HostPart>> parts_;
};

}  // namespace dyetrace::simulation
