// What of the trace's records an event of Falcon becomes.
#include <fmt/format.h>

#include <utility>

#include "base/check.h"
#include "base/json.h"
#include "importer/addresses.h"
#include "importer/falcon_import.h"
#include "importer/syscall_names.h"

namespace dyetrace::importer {
namespace {

using enum FalconType;
using schema::Attachment;
using schema::SyscallEvent;

constexpr std::uint16_t kStream = 1, kDatagram = 2;                             // SOCK_*
constexpr std::uint16_t kTcp = 6, kUdp = 17;                                    // IPPROTO_*
constexpr std::uint8_t kError = 3, kWarning = 4, kInformation = 6, kDebug = 7;  // of syslog

std::uint8_t severity_of(const std::string& level) {
    if (level == "ERROR" || level == "FATAL" || level == "SEVERE") {
        return kError;
    }
    if (level == "WARN" || level == "WARNING") {
        return kWarning;
    }
    return level == "DEBUG" || level == "TRACE" ? kDebug : kInformation;
}

// The call that stands for a kind of event; empty: it is none.
std::string_view call_for(const FalconEvent& event) {
    switch (event.type) {
        case kSend:
            return "sendto";
        case kReceive:
            return "recvfrom";
        case kConnect:
            return "connect";
        case kAccept:
            return "accept";
        case kClose:
        case kFileClose:
            return "close";
        case kFileWrite:
            return event.offset ? "pwrite64" : "write";
        case kFileRead:
            return event.offset ? "pread64" : "read";
        case kFileOpen:
            return "open";
        case kFileSync:
            return "fsync";
        default:
            return {};
    }
}

bool moves_bytes(FalconType type) {
    return type == kSend || type == kReceive || type == kFileWrite || type == kFileRead;
}

template <typename Number>
void set_if(SyscallEvent& event,
            std::uint32_t bit,
            Number& field,
            const std::optional<Number>& value) {
    if (value) {
        field = *value;
        event.present |= bit;
    }
}

}  // namespace

std::uint64_t FalconImport::write(const FalconPassed& passed, Host& host, std::uint32_t context) {
    return call_for(passed.event).empty() ? write_moment(passed, host, context)
                                          : write_call(passed, host, context);
}

std::uint64_t FalconImport::write_call(const FalconPassed& passed,
                                       Host& host,
                                       std::uint32_t context) {
    const FalconEvent& from = passed.event;
    const schema::SyscallInfo* const call = find_call(call_for(from));
    CHECK(call != nullptr);
    SyscallEvent event{};
    event.start_ns = passed.time_ns;
    event.context_id = context;
    event.syscall = call->number;
    event.abi = static_cast<std::uint8_t>(call->abi);
    event.event_class = static_cast<std::uint8_t>(from.has_socket() ? schema::Class::kNetwork
                                                                    : schema::Class::kFile);
    set_if(event, SyscallEvent::kHasFd, event.fd, from.fd);
    set_if(event, SyscallEvent::kHasFileOffset, event.file_offset, from.offset);
    set_if(event, SyscallEvent::kHasResult, event.result, from.returned);
    if (from.offset) {
        event.present |= SyscallEvent::kHasOffsetCertain;
        event.arguments[3] = static_cast<std::uint64_t>(*from.offset);
    }
    if (moves_bytes(from.type)) {
        const auto bytes = static_cast<std::int64_t>(from.bytes());
        if (from.returned.value_or(0) >= 0) {
            event.bytes = bytes;
            event.result = bytes;
            event.present |= SyscallEvent::kHasBytes | SyscallEvent::kHasResult;
        }
        if (from.size && *from.size >= 0) {
            event.requested = event.arguments[2] = static_cast<std::uint64_t>(*from.size);
            event.present |= SyscallEvent::kHasRequested;
        }
        if (from.has_socket() && !from.is_udp) {
            event.stream_offset = passed.stream_offset;
            event.present |= SyscallEvent::kHasStreamOffset;
        }
    }
    std::string address, path;
    if (from.has_socket()) {
        event.handle_id = socket_handle(from, host, passed.time_ns);
        event.present |= SyscallEvent::kHasHandle;
        if (from.type == kConnect) {
            address = sockaddr_of(from.destination.address, from.destination.port);
            event.arguments[2] = address.size();
        }
    } else if (!from.file_name.empty()) {
        event.handle_id = file_handle(from, host, passed.time_ns);
        event.present |= SyscallEvent::kHasHandle;
        path = from.type == kFileOpen ? from.file_name : "";
    }
    std::vector<Attached> attached;
    if (!path.empty()) {
        attached.emplace_back(Attachment::kPath, path);
    }
    if (!address.empty()) {
        attached.emplace_back(Attachment::kAddress, address);
    }
    return host.writer->add(event, attached);
}

// What is no call: a moment with a name, and what the log says of it as JSON; a line of a log as it is.
std::uint64_t FalconImport::write_moment(const FalconPassed& passed,
                                         Host& host,
                                         std::uint32_t context) {
    const FalconEvent& from = passed.event;
    schema::LogEvent event{};
    event.start_ns = passed.time_ns;
    event.context_id = context;
    event.kind =
        static_cast<std::uint8_t>(from.type == kLog ? schema::Kind::kLog : schema::Kind::kImport);
    event.severity = severity_of(from.level);
    if (from.type == kLog) {
        const Attached attached[] = {{Attachment::kText, from.text}};
        return host.writer->add(event, attached);
    }
    base::Json words = base::Json::object();
    const auto say = [&](const char* name, const std::string& value) {
        if (!value.empty()) {
            words.set(name, value);
        }
    };
    say("child", from.child);
    say("variable", from.variable);
    say("socket", from.socket);
    say("loc", from.location);
    say("message", from.text);
    const std::string text = words.text();
    const Attached attached[] = {{Attachment::kText, text},
                                 {Attachment::kName, name_of(from.type)}};
    return host.writer->add(event, attached);
}

// Sends are from the own end, and what is received is to it; who accepts is the destination. A close says nothing: then it is the end
// that the thread has had, or the one that its host has.
bool FalconImport::owns_source(const FalconEvent& event, Host& host) {
    Thread& thread = threads_[event.thread];
    if (event.type == kSend || event.type == kConnect) {
        return thread.owns_source[event.socket] = true;
    }
    if (event.type == kReceive || event.type == kAccept) {
        return thread.owns_source[event.socket] = false;
    }
    if (const auto known = thread.owns_source.find(event.socket);
        known != thread.owns_source.end()) {
        return known->second;
    }
    const std::string as_destination = "socket " +
                                       end_text(event.destination.address, event.destination.port) +
                                       " " + end_text(event.source.address, event.source.port);
    return !host.objects.contains(as_destination);
}

std::uint32_t FalconImport::socket_handle(const FalconEvent& event,
                                          Host& host,
                                          std::uint64_t time_ns) {
    const bool from_here = owns_source(event, host);
    const FalconEnd& own = from_here ? event.source : event.destination;
    const FalconEnd& other = from_here ? event.destination : event.source;
    const std::string own_text = end_text(own.address, own.port);
    const std::string other_text = end_text(other.address, other.port);
    auto& [object, handle] = host.objects[fmt::format("socket {} {}", own_text, other_text)];
    if (handle == 0) {
        object = host.writer->new_object();
        SocketFacts ends{.family = family_of(own.address),
                         .socket_type = event.is_udp ? kDatagram : kStream,
                         .protocol = event.is_udp ? kUdp : kTcp,
                         .local_address = own.address,
                         .remote_address = other.address,
                         .local_port = own.port,
                         .remote_port = other.port};
        if (!event.is_udp) {
            ends.connection_id = connection_of(own_text, other_text, 0);
        }
        handle = host.writer->announce(ObjectFacts{.object_id = object,
                                                   .type = schema::ObjectType::kSocket,
                                                   .file_system = "sockfs",
                                                   .socket = std::move(ends)},
                                       time_ns);
    }
    return handle;
}

std::uint32_t FalconImport::file_handle(const FalconEvent& event,
                                        Host& host,
                                        std::uint64_t time_ns) {
    auto& [object, handle] = host.objects["file " + event.file_name];
    if (handle == 0) {
        object = host.writer->new_object();
        handle = host.writer->announce(
            ObjectFacts{
                .object_id = object, .type = schema::ObjectType::kFile, .path = event.file_name},
            time_ns);
    }
    return handle;
}

}  // namespace dyetrace::importer
