// The payload of a trace, of all its hosts, by the event that moved it.
//
//   TRY(TracePayload payload, TracePayload::open("web1.trace"));
//   TRY(payload.scan([&](std::uint64_t event, const PayloadPart& part) { … }));
//   TRY(std::span<const std::byte> bytes, payload.bytes_at(part));
//
// Each host has a file of its own. Memory: what each reader of a file keeps (trace/payload_file.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/payload_file.h"

namespace dyetrace::query {

// Payload of a call: bytes from `position` of what it moved.
struct PayloadPart {
    std::uint64_t position = 0;
    trace::PayloadPlace place;
    std::uint32_t file = 0;  // of the trace's, by host
};

class TracePayload {
  public:
    // kNotFound: no host has any.
    static Result<TracePayload> open(const std::string& trace_path);

    // All entries, host by host, in the order in which they were written. Setting `*cancelled` makes it kInterrupted.
    Result<void> scan(const std::function<void(std::uint64_t event, const PayloadPart&)>& each,
                      const std::atomic<bool>* cancelled = nullptr);
    // Valid until the next call.
    Result<std::span<const std::byte>> bytes_at(const PayloadPart& part) {
        return files_[part.file].reader.bytes_at(part.place);
    }

    // Known after scan().
    std::uint64_t damaged_blocks() const;
    bool is_complete() const;  // what all recorders kept is there
    std::uint64_t redacted_bytes() const;

  private:
    struct File {
        std::uint16_t host_index = 0;
        trace::PayloadReader reader;
    };

    explicit TracePayload(std::vector<File> files) : files_(std::move(files)) {}

    std::vector<File> files_;
};

}  // namespace dyetrace::query
