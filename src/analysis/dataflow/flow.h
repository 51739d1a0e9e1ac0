// Bytes that went from one event to another one. An `offset` is one in a file or stream (events.file_offset, events.stream_offset), a `position` one
// among the bytes that an event moved.
#pragma once

#include <cstdint>
#include <vector>

#include "schema/generated/records.h"

namespace dyetrace::analysis {

struct Flow {
    std::uint64_t from_event = 0;
    std::uint64_t to_event = 0;
    std::uint64_t object = 0;     // that `from_event` put them into (rule hash: took them out of)
    std::uint64_t to_object = 0;  // that `to_event` took them out of (rule hash: put them into)
    std::uint64_t from_offset =
        0;  // of the first byte in the file or stream, as from_event sees it; kUnknown
    std::uint64_t to_offset = 0;      // the same for to_event
    std::uint64_t from_position = 0;  // of the first byte among those that from_event moved
    std::uint64_t to_position = 0;
    std::uint64_t bytes = 0;
    schema::FlowRule rule = schema::FlowRule::kFile;
    schema::Certainty certainty = schema::Certainty::kCertain;

    friend bool operator==(const Flow&, const Flow&) = default;
};

// What an operation did to a range of an object.
struct Act {
    std::uint64_t event = 0;
    std::uint64_t object = 0;
    std::uint64_t offset = 0;  // of its first byte in the file or stream
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;
    bool certain = true;
};

// Bytes begin to end of an object, which `from` put there and `to` took.
inline Flow flow_between(const Act& from,
                         const Act& to,
                         std::uint64_t begin,
                         std::uint64_t end,
                         schema::FlowRule rule,
                         bool certain) {
    return {.from_event = from.event,
            .to_event = to.event,
            .object = from.object,
            .to_object = to.object,
            .from_offset = begin,
            .to_offset = begin,
            .from_position = begin - from.offset,
            .to_position = begin - to.offset,
            .bytes = end - begin,
            .rule = rule,
            .certainty = certain && from.certain && to.certain ? schema::Certainty::kCertain
                                                               : schema::Certainty::kLikely};
}

}  // namespace dyetrace::analysis
