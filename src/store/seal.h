// Makes Parquet files of recorded segments. Runs in a process of its own: `dyetrace seal`.
//
//   segment-000007.seg ─► sealing-000007/<record>.parquet ─rename─► sealed-000007/ ─► the segment is unlinked
//
// The rename is the commit: before it readers use the segment, after it the Parquet files. A sealer that dies half-way
// leaves a sealing- folder, which the next one throws away, or a segment that is sealed already, which it unlinks; if the
// Parquet files of such a segment are damaged, it makes them again.
//
// Rows of a file are ordered by host, CPU and sequence. Record types without rows get no file.
//
// Measured, one core: 1.06 M events of PostgreSQL under pgbench in 0.95 s, 13.8 bytes each; synthetic ones (seal_bench) 1.0 M
// a second, 20.8 bytes. Nearly all of it is DuckDB's Parquet writer: decoding takes a tenth.
// Limits: one sealer per trace (a lock tells); memory is one row group per column, not the segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "trace/segment_reader.h"
#include "trace/trace_folder.h"

namespace dyetrace::store {

class Engine;
struct SealedFolder;

struct SealedSegment {
    std::uint64_t events = 0;
    std::uint64_t facts = 0;
    std::uint64_t parquet_bytes = 0;
};

class Sealer {
  public:
    // Writes hosts.parquet, syscalls.parquet, flags.parquet, views.sql and sealed-000000 (every table, without rows) if they are not there yet, and throws
    // away what an earlier sealer left half-done. kUnavailable if another one works on this trace.
    static Result<Sealer> start(trace::TraceFolder folder);

    // What becomes of a trace whose recorder is gone without a word.
    enum class Abandoned {
        kIsSealed,    // its last segment too, with a gap
        kMayCarryOn,  // nothing: another recorder may go on where that one died
    };

    // The segment must be complete, or (`end` says so) the last one of a recorder that died. A segment that cannot be sealed
    // stays as it was.
    Result<SealedSegment> seal(std::uint64_t number, trace::SegmentEnd end);

    // Asked before each segment while the recorder runs, with the number of those that are complete; false: come again later.
    using MaySeal = std::function<bool(std::size_t waiting)>;

    // Seals all segments that are complete now. When the recorder is gone that is all of them, and one that died is
    // written down in trace.json and as a gap. Returns the state after which it looked: kRecording means come again.
    Result<trace::TraceState> seal_what_is_there(
        const MaySeal& may_seal = [](std::size_t) { return true; },
        Abandoned abandoned = Abandoned::kIsSealed);

    const SealedSegment& totals() const { return totals_; }

  private:
    Sealer(trace::TraceFolder folder, base::Fd lock)
        : folder_(std::move(folder)), lock_(std::move(lock)) {}

    Result<void> remove_leftovers() const;
    void keep_better_copy(const SealedFolder& sealed, std::uint64_t number) const;
    Result<SealedSegment> write_sealed(std::uint64_t number, trace::SegmentEnd end);
    Result<void> write_frame();
    Result<void> leave_room_to_the_recorder(std::uint64_t number) const;
    Result<void> seal_death(std::uint64_t last_number);
    Result<void> commit(const std::string& from, std::uint64_t number) const;

    trace::TraceFolder folder_;
    base::Fd lock_;
    std::shared_ptr<const Engine> first_engine_;  // of the frame: for the first segment
    SealedSegment totals_;
};

// The same for a trace of many hosts, whose parts have sealers of their own.
Result<void> write_frame_of_parts(const trace::TraceFolder& folder,
                                  const std::vector<trace::Host>& hosts);

}  // namespace dyetrace::store
