// Writes what the recorder drains into segments of a trace.
//
//   append(cpu 0, events, bytes) ─► pending block of (cpu 0, events) ─┐ full, or flush()
//   append(cpu 1, facts,  bytes) ─► pending block of (cpu 1, facts)  ─┴─► segment-000001.seg: facts before events
//
//   TRY(SegmentWriter writer, SegmentWriter::create(folder, host_index, {}));
//   TRY(writer.append(cpu, schema::Stream::kFacts, bytes_of_facts_ring));     whole records, one after another
//   TRY(writer.append(cpu, schema::Stream::kEvents, bytes_of_events_ring));
//   writer.complete_until(drained_ns);                                        every event that ended before has been appended
//   TRY(writer.flush());                                                      at least every kFlushIntervalMs
//   TRY(writer.close());
//
// Each block says up to when all events are on the disk, so that readers know since when some are missing if no end follows: what
// still waits, on whatever CPU, came after complete_until() had said `since`, and what was not appended ended later than it said last.
//
// Order: an event may refer to a fact that was appended before it, on any CPU. Every prefix of a segment keeps that:
// before a block of events is written, all pending facts are.
//
// Failure: the block that did not fit is taken back, and every later call returns the same Error, but for one: the
// caller puts what it has to say of the failure into room that was kept for it.
//
//   TRY(writer.write_trailer(cpu, facts));                                    the gap, the last accounting; then the segment ends
//
// Limits: one thread. Memory is kPendingBlocksMax blocks, made at first use; no allocation per block after that.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "schema/record_info.h"
#include "trace/append_file.h"
#include "trace/codec.h"
#include "trace/record_walk.h"
#include "trace/segment_format.h"
#include "trace/trace_folder.h"

namespace dyetrace::trace {

// What kill -9 may cost is a quarter of a second: 50 ms are for who lacks a CPU, and for the disk. Readers of a running recording are at
// most 2 s behind, too.
inline constexpr int kFlushIntervalMs = 200;

// 16 MiB of records wait at most, on any number of CPUs.
inline constexpr std::size_t kPendingBlocksMax = 64;

// A segment ends at the first of these. A million events make Parquet files of some 16 MB, large enough to be read fast;
// five minutes bound what an idle recording keeps out of Parquet.
struct SegmentLimits {
    std::uint64_t records_max = 1'000'000;
    std::uint64_t raw_bytes_max = 256u << 20;
    std::uint64_t age_ns_max = 300'000'000'000;
};

// Fewer records make more of a segment's header, its end and its Parquet files than of what was recorded.
inline constexpr std::uint64_t kSegmentRecordsMin = 1'000;

// zstd over differences: 196 ns and 24 bytes an event; -1: 219 ns and 23 bytes, 1: 235 and 20 (segment_writer_bench, a busy
// machine). A segment lives for minutes, the time is taken from who is watched.
inline constexpr int kSegmentLevel = -3;

inline std::uint64_t boot_clock_ns() {
    return static_cast<std::uint64_t>(base::boot_time_ns());
}

struct SegmentWriterOptions {
    SegmentLimits limits;
    int level = kSegmentLevel;
    std::uint64_t first_number = 1;
    std::uint64_t complete_ns = 0;  // complete_until(); 0: now
    std::uint64_t (*clock_ns)() = &boot_clock_ns;
    std::function<Result<std::unique_ptr<AppendFile>>(const std::string& path)> create_file =
        &create_append_file;
};

struct SegmentWriterTotals {
    std::uint64_t segments = 0;
    std::uint64_t blocks = 0;
    std::uint64_t events = 0;     // records of the stream `events` that reached the file
    std::uint64_t followers = 0;  // of those, what belongs to an event: its parts and objects
    std::uint64_t facts = 0;
    std::uint64_t raw_bytes = 0;
    std::uint64_t stored_bytes = 0;
};

class SegmentWriter {
  public:
    // `folder` must outlive the writer. The first segment is made now, so that a bad disk is found before anything runs.
    static Result<SegmentWriter> create(TraceFolder& folder,
                                        std::uint16_t host_index,
                                        SegmentWriterOptions options = {});

    SegmentWriter(SegmentWriter&&) = default;
    SegmentWriter& operator=(SegmentWriter&&) = default;

    // `records` are whole records as they lie in a ring; kCorrupt (and the writer goes on, without them) if they are not.
    Result<void> append(std::uint32_t cpu,
                        schema::Stream stream,
                        std::span<const std::byte> records);

    // All events of the host that ended before have been appended; never goes back.
    void complete_until(std::uint64_t ns);
    // All events that ended before are on the disk.
    std::uint64_t kept_until_ns() const { return kept_until_ns_but(nullptr); }

    // Everything appended so far can be read by others when this returns.
    Result<void> flush();

    // flush(), then the end of the segment. Calling it again does nothing.
    Result<void> close();

    bool failed() const { return failure_.has_value(); }
    const std::optional<Error>& failure() const { return failure_; }
    // After a failure, once: writes the facts of this CPU that wait still, then these, and the end of the segment. Without
    // that readers see a recorder that died.
    Result<void> write_trailer(std::uint16_t cpu, std::span<const std::byte> facts);

    const SegmentWriterTotals& totals() const { return totals_; }
    // Records of the stream `events` of this CPU that reached the file.
    std::uint64_t events_of(std::uint32_t cpu) const {
        return cpu < events_of_.size() ? events_of_[cpu] : 0;
    }

  private:
    struct Pending {
        std::vector<std::byte> bytes;  // capacity kBlockRawBytes or one larger record
        RecordSummary summary;
        std::uint16_t cpu = 0;
        schema::Stream stream = schema::Stream::kEvents;
        std::uint64_t since_ns = 0;  // none of it ended before
    };

    SegmentWriter(TraceFolder& folder, std::uint16_t host_index, SegmentWriterOptions options);

    Result<void> begin_segment();
    Result<void> begin_file(bool is_trailer);
    Result<void> end_segment();
    Result<void> rotate_if_due();
    Result<void> add(std::uint16_t cpu, schema::Stream stream, schema::RecordBytes record);
    Result<Pending*> pending_for(std::uint16_t cpu, schema::Stream stream, std::size_t bytes);
    Result<void> write_pending(Pending& pending);
    Result<void> write_all_of(schema::Stream stream);
    Result<void> write_records(const Pending& pending);
    // Once that one is written, too.
    std::uint64_t kept_until_ns_but(const Pending* written) const;
    Result<void> write_block(BlockHeader header,
                             std::span<const std::byte> raw,
                             std::uint64_t kept_until_ns);
    void release(Pending& pending);
    Error fail(Error error);

    TraceFolder* folder_;
    std::uint16_t host_index_;
    SegmentWriterOptions options_;
    Compressor compressor_;
    std::vector<std::byte> block_;                 // header and payload of the block being written
    std::vector<std::unique_ptr<Pending>> slots_;  // by cpu * 2 + stream; null: nothing waits
    std::vector<std::unique_ptr<Pending>> free_;
    std::size_t pending_count_ = 0;
    std::unique_ptr<AppendFile> file_;
    std::uint64_t number_ = 0;    // of the current segment
    std::uint64_t position_ = 0;  // after its last whole block
    std::uint64_t created_ns_ = 0;
    std::uint64_t complete_ns_ = 0;  // see complete_until()
    SegmentTotals segment_{};
    SegmentWriterTotals totals_;
    std::vector<std::uint64_t> events_of_;  // by CPU
    std::optional<Error> failure_;
};

}  // namespace dyetrace::trace
