// What comes into a trace while it is recorded, block by block, of all its hosts; without asking what was there before.
//
//   TRY(TraceTail tail, TraceTail::open("fleet.trace"));
//   for (;;) { TRY(tail.read([&](std::uint16_t host_index, std::span<const std::byte> records) { RecordWalk walk(records); … })); … }
//
// Each block is handed over once: those of one CPU and stream in the order in which they were written, those of others in any. Hosts that join
// later are found. The recorder, the collector and the sealer do not notice.
//
// Limits: what was sealed between two calls of read() is not read to its end; such segments are counted. Damaged blocks are skipped.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "base/result.h"
#include "trace/segment_reader.h"
#include "trace/trace_folder.h"

namespace dyetrace::trace {

class TraceTail {
  public:
    // Where a host's part of the trace is read.
    struct Part {
        std::string host;  // its name
        std::int64_t written_ns =
            0;  // by the wall clock of this machine, of its newest segment; 0: nothing yet
        std::uint64_t next_segment = 0;             // all before it were read to their ends
        std::map<std::uint64_t, std::size_t> read;  // blocks of the others, by segment
    };
    using Take = std::function<void(std::uint16_t host_index, std::span<const std::byte> records)>;

    // Begins after what is written now.
    static Result<TraceTail> open(const std::string& path);

    // Hands over what came since.
    Result<void> read(const Take& take);

    // kRecording as long as more may come.
    Result<TraceState> state() { return folder_.current_state(); }
    // The key is the host's index.
    const std::map<std::uint16_t, Part>& parts() const { return parts_; }
    std::uint64_t segments_missed() const { return segments_missed_; }

  private:
    explicit TraceTail(TraceFolder folder) : folder_(std::move(folder)) {}

    Result<void> read_part(const TraceFolder& folder, Part& part, const Take* take);
    Result<void> read_segment(const TraceFolder& folder,
                              std::uint64_t number,
                              Part& part,
                              const Take* take);

    TraceFolder folder_;
    std::map<std::uint16_t, Part> parts_;
    std::uint64_t segments_missed_ = 0;
};

}  // namespace dyetrace::trace
