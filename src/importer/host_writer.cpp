#include "importer/host_writer.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "schema/record_info.h"

namespace dyetrace::importer {
namespace {

using schema::Attachment;
using schema::Stream;

constexpr std::size_t kFlushBytes = 128u << 10;
constexpr std::size_t kAttachmentMax = 60'000;  // all of a record have 65,535

void set_name(std::uint8_t (&field)[16], std::string_view name) {
    std::memcpy(field, name.data(), std::min(name.size(), sizeof(field) - 1));
}

void set_address(std::uint8_t (&field)[16], std::uint16_t family, const std::string& text) {
    if (!text.empty() && (family == AF_INET || family == AF_INET6)) {
        ::inet_pton(family, text.c_str(), field);  // text that is no address leaves zeros
    }
}

// Gives the name as the kernel keeps it: without a NUL at the end of a path, with one in front of
// an abstract name.
std::string unix_name(const std::string& text) {
    return text.starts_with('@') ? std::string(1, '\0') + text.substr(1) : text;
}

}  // namespace

Result<HostWriter> HostWriter::create(const std::string& path, trace::TraceInfo info) {
    const std::uint16_t index = info.hosts.front().index;
    TRY(trace::TraceFolder made, trace::TraceFolder::create(path, std::move(info)));
    auto folder = std::make_unique<trace::TraceFolder>(std::move(made));
    auto writer = trace::SegmentWriter::create(*folder, index);
    if (!writer.ok()) {
        folder->discard();
        return std::move(writer).error();
    }
    return HostWriter(std::move(folder), std::move(writer).value());
}

template <typename Record>
void HostWriter::put(Stream stream, Record& record, std::span<const Attached> attached) {
    std::vector<std::byte>& bytes = stream == Stream::kFacts ? facts_ : records_;
    const std::size_t begin = bytes.size();
    std::size_t size = sizeof(Record);
    for (const auto& [kind, content] : attached) {
        size += sizeof(schema::AttachmentHeader) +
                (std::min(content.size(), kAttachmentMax) + 7) / 8 * 8;
    }
    static const bool kMayBeSkipped = !schema::find_record(Record::kId)->must_understand;
    record.header = {static_cast<std::uint32_t>(size),
                     Record::kId,
                     static_cast<std::uint16_t>(kMayBeSkipped ? 1 : 0),
                     stream == Stream::kFacts ? fact_sequence_++ : event_sequence_++};
    if constexpr (requires { record.attachments; }) {
        record.attachments = static_cast<std::uint16_t>(size - sizeof(Record));
    }
    bytes.resize(begin + size);
    std::memcpy(bytes.data() + begin, &record, sizeof(record));
    std::size_t at = begin + sizeof(record);
    for (const auto& [kind, content] : attached) {
        const std::string_view kept = content.substr(0, kAttachmentMax);
        const schema::AttachmentHeader header{
            static_cast<std::uint16_t>(kind), static_cast<std::uint16_t>(kept.size()), 0};
        std::memcpy(bytes.data() + at, &header, sizeof(header));
        std::memcpy(bytes.data() + at + sizeof(header), kept.data(), kept.size());
        at += sizeof(header) + (kept.size() + 7) / 8 * 8;
    }
}

template <typename Event>
void HostWriter::see(const Event& event) {
    if constexpr (requires { event.start_ns; }) {
        begin_ns_ = std::min(begin_ns_, event.start_ns);
        end_ns_ = std::max(end_ns_, event.start_ns);
    }
}

template void HostWriter::put(Stream, schema::SyscallEvent&, std::span<const Attached>);
template void HostWriter::put(Stream, schema::PartEvent&, std::span<const Attached>);
template void HostWriter::put(Stream, schema::LogEvent&, std::span<const Attached>);
template void HostWriter::put(Stream, schema::SignalEvent&, std::span<const Attached>);
template void HostWriter::put(Stream, schema::EventObject&, std::span<const Attached>);
template void HostWriter::put(Stream, schema::ImportEdge&, std::span<const Attached>);
template void HostWriter::put(Stream, schema::ThreadEnd&, std::span<const Attached>);
template void HostWriter::see(const schema::SyscallEvent&);
template void HostWriter::see(const schema::PartEvent&);
template void HostWriter::see(const schema::LogEvent&);
template void HostWriter::see(const schema::SignalEvent&);
template void HostWriter::see(const schema::EventObject&);

std::uint32_t HostWriter::announce(const TaskFacts& task, std::uint64_t time_ns) {
    schema::TaskContext fact{};
    fact.valid_from_ns = time_ns;
    fact.thread_start_ns = task.thread_start_ns;
    fact.process_start_ns = task.process_start_ns;
    fact.parent_start_ns = task.parent_start_ns;
    fact.context_id = ++contexts_;
    fact.pid = fact.pid_in_namespace = task.pid;
    fact.tid = task.tid;
    fact.ppid = task.ppid;
    fact.uid = fact.gid = kUserUnknown;
    set_name(fact.comm, task.comm);
    std::vector<Attached> attached;
    if (!task.exe.empty()) {
        attached.emplace_back(Attachment::kExe, task.exe);
    }
    if (!task.command.empty()) {
        attached.emplace_back(Attachment::kCommand, std::string_view(task.command).substr(0, 4096));
    }
    put(Stream::kFacts, fact, attached);
    return contexts_;
}

std::uint32_t HostWriter::announce(const ObjectFacts& object, std::uint64_t time_ns) {
    schema::Handle fact{};
    fact.valid_from_ns = time_ns;
    fact.inode = object.inode;
    fact.serial = object.object_id;  // a log knows no generations: each object is one of its own
    fact.handle_id = ++handles_;
    fact.object_id = object.object_id;
    fact.device = object.device;
    fact.mode = object.mode;
    fact.object_type = static_cast<std::uint8_t>(object.type);
    set_name(fact.file_system, object.file_system);
    const Attached path(Attachment::kPath, object.path);
    put(Stream::kFacts,
        fact,
        object.path.empty() ? std::span<const Attached>() : std::span(&path, 1));
    if (!object.socket) {
        return handles_;
    }
    const SocketFacts& ends = *object.socket;
    schema::Socket socket{};
    socket.valid_from_ns = time_ns;
    socket.connection_id = ends.connection_id;
    socket.handle_id = handles_;
    socket.object_id = object.object_id;
    socket.family = ends.family;
    socket.socket_type = ends.socket_type;
    socket.protocol = ends.protocol;
    socket.local_port = ends.local_port;
    socket.remote_port = ends.remote_port;
    socket.peer_object_id = ends.peer_object_id;
    set_address(socket.local_address, ends.family, ends.local_address);
    set_address(socket.remote_address, ends.family, ends.remote_address);
    const std::string own = unix_name(ends.unix_path), peer = unix_name(ends.unix_peer_path);
    std::vector<Attached> names;
    if (!own.empty()) {
        names.emplace_back(Attachment::kPath, own);
    }
    if (!peer.empty()) {
        names.emplace_back(Attachment::kPath2, peer);
    }
    put(Stream::kFacts, socket, names);
    return handles_;
}

void HostWriter::say_coverage(std::string_view source,
                              schema::CoverageState state,
                              std::string_view reason) {
    schema::Coverage fact{};
    fact.time_ns = begin_ns();
    fact.state = static_cast<std::uint8_t>(state);
    const Attached attached[] = {{Attachment::kPath, source},
                                 {Attachment::kText, reason.substr(0, 4096)}};
    put(Stream::kFacts, fact, attached);
}

Result<void> HostWriter::flush_if_full() {
    return facts_.size() + records_.size() < kFlushBytes ? Result<void>() : flush();
}

// Facts first: events refer to them.
Result<void> HostWriter::flush() {
    TRY(writer_.append(0, Stream::kFacts, facts_));
    TRY(writer_.append(0, Stream::kEvents, records_));
    facts_.clear();
    records_.clear();
    return {};
}

Result<trace::SegmentWriterTotals> HostWriter::finish() {
    if (lost_ > 0) {
        schema::Gap gap{};
        gap.begin_ns = begin_ns();
        gap.end_ns = end_ns_;
        gap.lost = lost_;
        gap.cpu = UINT32_MAX;
        gap.reason = static_cast<std::uint8_t>(schema::GapReason::kUnreadableLine);
        put(Stream::kFacts, gap, {});
    }
    schema::Accounting accounting{};
    accounting.time_ns = end_ns_;
    accounting.generated = events_ + lost_;
    accounting.delivered = events_;
    accounting.lost = lost_;
    put(Stream::kFacts, accounting, {});
    TRY(flush());
    TRY(writer_.close());
    TRY(folder_->finish());
    return writer_.totals();
}

}  // namespace dyetrace::importer
