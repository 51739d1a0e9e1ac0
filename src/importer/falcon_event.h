// An event of Falcon, or of CaT's tracers, out of its JSON object.
//
//   {"timestamp":1525880628677,"type":"SND","thread":"5682@web1","socket":"10.0.0.1:53-10.0.0.2:54392","socket_type":"UDP",
//    "src":"10.0.0.2","src_port":54392,"dst":"10.0.0.1","dst_port":53,"size":50,"message":"17"}
//
// Falcon's own names of types and its numbers are taken, and CaT's. 13 is SHUTDOWN to the one and FSYNC to the other: an event with a socket
// is the former. What a type needs and the object lacks, or has of another JSON type or beyond its range, is an error that says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace dyetrace::importer {

enum class FalconType : std::uint8_t {
    kCreate = 1,
    kStart = 2,
    kEnd = 3,
    kJoin = 4,
    kLog = 5,
    kVariableRead = 6,
    kVariableWrite = 7,
    kSend = 8,
    kReceive = 9,
    kClose = 10,
    kConnect = 11,
    kAccept = 12,
    kShutdown = 13,
    kHandlerBegin = 14,
    kHandlerEnd = 15,
    kLock = 16,
    kUnlock = 17,
    kWait = 18,
    kNotify = 19,
    kNotifyAll = 20,
    kFileWrite = 21,
    kFileRead = 22,
    kFileOpen = 23,
    kFileClose = 24,
    kFileSync = 25,  // 13 in CaT's logs
};

// Gives the name that Falcon writes: "SND".
std::string_view name_of(FalconType type);

struct FalconEnd {
    std::string address = {};
    std::uint16_t port = 0;
    bool operator==(const FalconEnd&) const = default;
};

struct FalconEvent {
    FalconType type = FalconType::kLog;
    std::uint64_t timestamp = 0;  // in the log's unit
    std::uint64_t time_ns = 0;    // on the host's clock; whoever knows the unit fills it in
    std::uint64_t line = 0;
    std::uint16_t file = 0;         // position among the logs
    std::uint32_t host_number = 0;  // whatever its reader makes of a host
    std::string thread = {};        // "5682@web1"
    std::string host = {};          // what follows the @, else data.host, else the thread
    std::string comm = {};
    std::optional<std::uint32_t> pid;
    std::string child = {};     // CREATE, JOIN
    std::string variable = {};  // R, W, LOCK, …
    std::string location = {};
    std::string text = {};  // LOG: the line; UDP: the message's id
    std::string level = {};
    std::string socket = {};
    bool is_udp = false;
    FalconEnd source, destination;
    std::string file_name = {};
    std::optional<std::int32_t> fd;
    std::optional<std::int64_t> offset, size, returned;

    bool has_socket() const { return !socket.empty(); }
    // Bytes that moved; 0 if the call failed.
    std::uint64_t bytes() const;
};

Result<FalconEvent> parse_falcon_event(std::string_view json);

// "5682" and "web1" of "5682@web1"; the whole twice if there is no @.
std::string_view name_before_at(std::string_view thread);
std::string_view host_after_at(std::string_view thread);

}  // namespace dyetrace::importer
