// The bytes that calls moved over IP sockets, as packets for Wireshark (exporter/packets.h makes them up).
//
// Memory: 48 bytes for each piece of payload of such a call, and what exporter::Packets keeps.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "exporter/event.h"
#include "store/database.h"

namespace dyetrace::reports {

struct ExportedPackets {
    std::uint64_t calls = 0;     // whose bytes are there
    std::uint64_t missing = 0;   // bytes that such calls moved and the trace does not have
    std::uint64_t without = 0;   // calls on sockets that are no TCP and UDP
    std::uint64_t redacted = 0;  // bytes of the trace that are '*'
    std::uint64_t damaged = 0;   // blocks of payload
    bool is_complete = true;     // the recording has ended as it should
};

// kNotFound: the trace has no bytes of any call. `from`: as in ExportQuestion.
Result<ExportedPackets> export_packets(store::Database& database,
                                       const std::string& from,
                                       const std::atomic<bool>& cancelled,
                                       const exporter::Sink& sink);

}  // namespace dyetrace::reports
