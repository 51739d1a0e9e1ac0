// Recorders that record nothing: they write a trace that was really recorded, once more, as another host's.
//
//   TRY(const RecordedTrace recorded, RecordedTrace::load("recorded"));        `dyetrace record --no-seal`
//   options.start_recorder = [&](const auto& order) { return replay(recorded, order, pace, totals); };
//
//   recorded   segment-000001.seg   header | block | block | … | end
//                                             ▲ written_ns of a block: it is written so long after the beginning
//   replayed   the same bytes, but for the host's index in each block header; trace.json with the host's own name and boot id
//
// So hosts differ in who they are, and in nothing else: events, accounting and facts of each are those of the recorded trace, once.
//
// Limits: no thread of its own, it writes when the agent looks. Told to stop, it writes the rest at once: the accounting closes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/trace_info.h"
#include "transport/recorder.h"

namespace dyetrace::bench {

// A segment header, a block or an end block.
struct Piece {
    std::size_t begin = 0;
    std::size_t size = 0;
    bool is_block = false;
    std::uint64_t due_ns = 0;  // since the recording began
    std::uint64_t events = 0;
};

struct RecordedSegment {
    std::uint64_t number = 0;
    std::string bytes;
    std::vector<Piece> pieces;  // all of it, in order
};

struct RecordedTrace {
    trace::TraceInfo info;
    std::vector<RecordedSegment> segments;
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;
    std::uint64_t duration_ns = 0;

    // kInvalidArgument if it is not complete and of one host, or has no segments any more.
    static Result<RecordedTrace> load(const std::string& path);
};

struct Pace {
    double speed = 1;            // 2: in half the time. 0: as fast as the collector takes it
    std::uint64_t delay_ns = 0;  // after the word to go: hosts do not beat as one
};

// What all replays of a program have written.
struct Totals {
    std::atomic<std::uint64_t> events = 0;
    std::atomic<std::uint64_t> bytes = 0;
    std::atomic<std::uint64_t> running = 0;  // replays that have something left to write
};

Result<std::unique_ptr<transport::Recorder>> replay(const RecordedTrace& recorded,
                                                    const transport::RecorderOrder& order,
                                                    Pace pace,
                                                    Totals& totals);

}  // namespace dyetrace::bench
