// A trace on disk: which files it has, who may write them, and whether its recorder lives.
//
//   web1.trace/
//     trace.json             hosts, options, state                           replaced by rename
//     trace.json.finished    what it will be when the recording has ended: a full disk has room for a rename
//     recording              locked by the recorder as long as it lives; its bytes are room for what must be written at the end
//     payload                what calls moved, with --content=bytes (payload_file.h)
//     segment-000007.seg     recorded, not yet in Parquet; the newest grows
//     sealed-000006/         the Parquet files of segment 6, one per record type that had rows; appears by rename
//     sealed-000000/         the same without rows, of every record type
//     hosts.parquet syscalls.parquet flags.parquet views.sql     for readers of Parquet only
//
// A trace of many hosts is a folder of traces of one host each, with a trace.json of its own:
//
//   fleet.trace/
//     trace.json             the feature "parts", options, state
//     recording              locked by the collector as long as it lives
//     host-0000/ host-0017/  traces as above; the number is the host's index
//
// Segment N is in sealed-N if that exists, else in segment-N.seg: each event once. The sealer renames the folder of
// Parquet files into place and only then unlinks the segment, so a reader that sees both takes Parquet.
//
//   TRY(TraceFolder folder, TraceFolder::create("web1.trace", info));     the recorder
//   TRY(TraceFolder folder, TraceFolder::open("web1.trace"));             anyone, at any time
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "trace/trace_info.h"

namespace dyetrace::trace {

// When the disk is full: enough for a gap and an end block where the file system cannot promise room for them, and for the
// views and empty tables (a quarter of a megabyte) without which others cannot read the trace.
inline constexpr std::size_t kReserveBytes = 512 * 1024;

// trace.json: 512 hosts of a few hundred bytes and the user's options.
inline constexpr std::size_t kTraceInfoBytesMax = 4 * 1024 * 1024;

// At one segment a second for a month; a folder with more is not ours.
inline constexpr std::uint64_t kSegmentsMax = 4'000'000;

// What a folder holds at one moment. Numbers rise; no number is in both.
struct SegmentList {
    std::vector<std::uint64_t> sealed;
    std::vector<std::uint64_t> recorded;
    // Numbers between the first and the last that are in neither: somebody deleted files.
    std::vector<std::uint64_t> missing() const;
};

// From now on the files that this process makes are their owner's alone, or to be read by the group that the trace is shared with. In a trace that is
// another user's they can be read by all whom its folder lets in: by that user. A command that it starts would inherit that: start it first.
void keep_files_private(const std::string& trace_path);

class TraceFolder {
  public:
    // kAlreadyExists: something is there that create() would not take.
    static Result<void> expect_free(const std::string& path);
    // kInvalidArgument: what a verb is to write there would be, or would lie in, a trace ("": standard output).
    static Result<void> expect_outside(const std::string& output);
    // Makes the folder (or takes an empty one); the caller is its recorder until it finishes or dies. Fills in
    // info.recorder_*. kAlreadyExists if something is there. Leaves nothing behind when it fails.
    // A folder that it makes is its owner's alone, or to be read by `group` as well.
    static Result<TraceFolder> create(const std::string& path,
                                      TraceInfo info,
                                      std::optional<gid_t> group = std::nullopt);

    // Carries on where a recorder died: the caller is its recorder now. kUnavailable if one lives, kInvalidArgument if it ended.
    static Result<TraceFolder> resume(const std::string& path);

    // Reads trace.json; kNotFound if there is none.
    static Result<TraceFolder> open(const std::string& path);

    const std::string& path() const { return path_; }
    const TraceInfo& info() const { return info_; }

    // The index of a trace of one host.
    std::uint16_t host_index() const {
        return info_.hosts.empty() ? std::uint16_t{0} : info_.hosts.front().index;
    }

    // kUnsupported if a link, a pipe or a device lies in it. One that was unpacked may have brought a link to a file of this machine, which SQL
    // would read as the trace's, or a pipe, which would be waited for.
    Result<void> check_kinds() const;

    // A trace of many hosts has a part for each: where one of them is, and all that are there, by index. A trace of one host is its own part.
    std::string part_path(std::uint16_t host_index) const;
    Result<std::vector<TraceFolder>> parts() const;

    std::string segment_path(std::uint64_t number) const;
    std::string sealed_path(std::uint64_t number) const;

    // A consistent view even while the sealer works; a segment may be gone when it is opened: then list again.
    Result<SegmentList> list() const;

    // The state as it is now: reads trace.json again. kRecording only if the recorder lives.
    Result<TraceState> current_state();

    // The recorder: all segments are closed. Needs no room on the disk.
    Result<void> finish();

    // The recorder, when it cannot finish: for others it has died. Nobody waits for it any longer.
    void leave() { recording_.reset(); }

    // The recorder, when nothing was recorded: removes its files, and the folder if create() made it.
    void discard();

    // The sealer: the recorder is gone and its last segment is sealed with a gap.
    Result<void> mark_died();

    // Gives the room that was kept for the trailer back to the disk.
    void release_reserve();

  private:
    TraceFolder(std::string path, TraceInfo info)
        : path_(std::move(path)), info_(std::move(info)) {}

    Result<void> occupy();
    Result<void> lock();
    Result<void> keep_reserve() const;
    Result<void> write_both_infos() const;
    Result<void> write_info() const;

    std::string path_;
    TraceInfo info_;
    base::Fd recording_;  // the recorder's, locked
    bool made_ = false;   // by create()
};

}  // namespace dyetrace::trace
