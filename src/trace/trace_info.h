// What trace.json says: whose trace this is and whether it is still being recorded.
//
//   {"format_version": 0, "must_understand": [], "state": "recording", "program": "dyetrace 0.1.0",
//    "recorder": {"pid": 71, "start_ticks": 8123}, "options": {"command": ["ls", "-l"]},
//    "hosts": [{"index": 0, "name": "web1", "boot_id": "…", "kernel": "6.1.0-18-amd64", "machine": "x86_64",
//               "cpus": 8, "wall_offset_ns": 1700000000000000000, "network_namespace": 4026531840, "node_by": "host"}]}
//
// Members that a reader does not know are ignored; a feature named in must_understand is not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace dyetrace::trace {

struct Host {
    std::uint16_t index = 0;  // as in blocks and event ids
    std::string name;
    std::string boot_id;
    std::string kernel;   // release
    std::string machine;  // architecture
    std::uint32_t cpus = 0;
    std::int64_t wall_offset_ns =
        0;  // CLOCK_REALTIME minus CLOCK_BOOTTIME when the recording began
    std::uint32_t network_namespace = 0;  // of its first process; 0: not known
    std::string node_by = "host";         // what events are labelled by: host, netns, container
    bool operator==(const Host&) const = default;
};

enum class TraceState {
    kRecording,  // its recorder lives, or died without a word
    kFinished,   // all segments are complete
    kDied,       // the recorder died; found and written down by the sealer, with a gap
};

struct TraceInfo {
    TraceState state = TraceState::kRecording;
    std::string program;  // that recorded it, with its version
    std::int64_t recorder_pid = 0;
    std::uint64_t recorder_start_ticks = 0;  // field 22 of /proc/<pid>/stat
    std::vector<std::pair<std::string, std::string>>
        options;  // as the user gave them; a name may come again
    std::vector<Host> hosts;
    // A trace of many hosts: each is a trace of its own in a folder below this one, and `hosts` is empty. Readers must understand it.
    bool has_parts = false;
    bool operator==(const TraceInfo&) const = default;
};

// This machine now, with index 0.
Result<Host> this_host();

std::string to_json(const TraceInfo& info);
// kUnsupported for a newer format or a feature that this version does not know; kCorrupt for anything else.
Result<TraceInfo> parse_trace_info(std::string_view text);

}  // namespace dyetrace::trace
