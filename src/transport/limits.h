// What agents and collector let each other have. Everything from outside is measured against these.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dyetrace::transport {

// Another number: the other side is refused. Rises when an old agent and a new collector would misunderstand each other.
inline constexpr std::uint32_t kProtocolVersion = 1;

inline constexpr std::size_t kChunkBytesMax = 256 * 1024;  // what a damaged chunk costs
inline constexpr std::size_t kMessageBytesMax =
    1024 * 1024;  // a chunk, or the options of a session
inline constexpr std::uint64_t kInFlightBytesMax = 16u
                                                   << 20;  // sent and not acknowledged, per agent
inline constexpr std::size_t kTraceInfoBytesMax = 256 * 1024;  // trace.json of one host
inline constexpr std::size_t kSessionsMax = 64;                // that are not over, per collector
inline constexpr std::size_t kSessionsKnownMax = 1'000;        // with those that are over
inline constexpr std::size_t kAgentsMax = 1024;                // as hosts of a trace
inline constexpr std::size_t kOperatorsMax = 64;               // that look on
inline constexpr std::size_t kArgumentsMax = 256;              // of a command line
inline constexpr std::size_t kArgumentsBytesMax = 128 * 1024;  // as the kernel takes at least
inline constexpr std::size_t kNameBytesMax = 64;  // hosts (HOST_NAME_MAX), sessions, traces
inline constexpr std::size_t kStatusTextBytesMax = 16 * 1024;  // what a recorder says at its end
// An answer to an operator has no more text: what hosts said is shortened to that. Half a message: there are numbers and names, too.
inline constexpr std::size_t kTextsBytesMax = kMessageBytesMax / 2;
inline constexpr std::size_t kHostsListedBytesMax = kMessageBytesMax / 2;  // of all sessions

inline constexpr std::uint64_t kSpoolBytesMin = 1u << 20;
inline constexpr std::uint64_t kSpoolBytesDefault = 4ull << 30;

inline constexpr std::int64_t kNsPerMs = 1'000'000;
inline constexpr int kPollMs = 50;          // how often an agent looks at what its recorders wrote
inline constexpr int kAcknowledgeMs = 100;  // how often a collector makes durable what arrived
inline constexpr int kKeepaliveMs = 3'000;  // a dead connection is noticed within this and
inline constexpr int kKeepaliveTimeoutMs = 4'000;  // that
inline constexpr int kReconnectMsMin = 200;
inline constexpr int kReconnectMsMax = 3'000;
inline constexpr int kFullDiskPauseMs = 1'000;
inline constexpr std::int64_t kReadyNsMax =
    60'000'000'000;  // loading takes a second; a busy machine more
inline constexpr std::int64_t kOperatorGoneNsMax = 30'000'000'000;

}  // namespace dyetrace::transport
