// An event of a trace as the writers of other tools' formats take it, and who is who in the trace.
//
//   Scene scene;                                    once: hosts, processes, threads
//   Event event{.id = 7, .process_id = 3, .thread_id = 3, .begin_ns = …, .duration_ns = 1200, .event_class = "file", .name = "read",
//               .values = values};                  values[i] belongs to names[i], which a writer is given when it is made
//
// Texts are valid UTF-8 (schema::escaped made them so) and need to live until the call returns.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace dyetrace::exporter {

// Takes what is written, in order.
using Sink = std::function<Result<void>(std::string_view)>;
inline constexpr std::size_t kSinkBytes = std::size_t{1}
                                          << 20;  // given to a sink at once, or a bit more

// When it ends; a damaged trace may have durations that lead out of all time: to the end of it.
inline std::int64_t end_of(std::int64_t begin_ns, std::uint64_t duration_ns) {
    std::int64_t end = 0;
    return __builtin_add_overflow(begin_ns, duration_ns, &end)
               ? std::numeric_limits<std::int64_t>::max()
               : end;
}

struct Host {
    std::uint32_t index = 0;
    std::string name, boot_id, kernel;
};

struct Process {
    std::uint32_t host_index = 0;
    std::uint32_t pid = 0, ppid = 0;
    std::string comm, exe, container;
};

struct Thread {
    std::uint64_t process_id = 0;
    std::uint32_t tid = 0;
    std::string comm;
};

struct Scene {
    std::vector<Host> hosts;
    std::unordered_map<std::uint64_t, Process> processes;  // by process_id
    std::unordered_map<std::uint64_t, Thread> threads;     // by thread_id

    const Host* host_of(std::uint32_t index) const {
        for (const Host& host : hosts) {
            if (host.index == index) {
                return &host;
            }
        }
        return nullptr;
    }
};

enum class ValueKind : std::uint8_t {
    kText,
    kName,    // text that comes again and again: paths, addresses
    kNumber,  // a whole number, -2^63 to 2^64-1
    kId,      // 64 bits that are no amount
    kBool,    // true, false
    kJson,
};

struct ValueName {
    std::string name;
    ValueKind kind = ValueKind::kText;
};

using OptionalText = std::optional<std::string_view>;  // nothing: the event has no such value

struct Flow {
    std::uint64_t id = 0;       // the same at both ends
    std::uint64_t event = 0;    // at the other end
    std::uint64_t process = 0;  // of that event
};

struct Event {
    std::uint64_t id = 0, parent_id = 0;  // 0: is no part
    std::uint64_t process_id = 0, thread_id = 0;
    std::int64_t begin_ns = 0;
    std::optional<std::uint64_t> duration_ns = {};
    bool is_unfinished = false;  // it had not returned when its thread or the recording ended
    std::string_view event_class, name, error = {};
    std::span<const OptionalText> values = {};
    std::span<const Flow> flows_from = {};  // it got bytes from
    std::span<const Flow> flows_to = {};    // it gave bytes to
};

// Spreads the bits of `number`, one to one: ids that are small, or alike, for formats that want random ones. 0 stays 0.
inline std::uint64_t spread(std::uint64_t number) {
    number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
    number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
    return number ^ (number >> 31);
}

}  // namespace dyetrace::exporter
