// The trace of one host on the collector's disk, as it arrives.
//
//   20261122T094512-ab12/host-0003/
//     trace.json            replaced when the agent sends another; until that is durable it is trace.json.new
//     segment-000007.seg    grows by what follows its end, never otherwise
//     recording             locked here while the agent may still send: readers see a trace that is being recorded
//
// The sizes of the files are the only record of what has arrived: a collector that was killed asks the disk.
//
// Nothing here waits for the disk: what was written is taken (take_unsynced), made durable by the caller, for all parts together
// and outside of every lock, and told back (put_info, synced).
//
// Limits: one thread. File names from outside are compared with the few that a trace has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace dyetrace::transport {

// Size of a file that is Parquet by now: all of it is here.
inline constexpr std::uint64_t kWholeFile = UINT64_MAX;

inline constexpr std::string_view kSegmentPrefix = "segment-";

// segment-000007.seg or payload.
bool is_growing_file(std::string_view name);

struct Arrived {
    std::string file;
    std::uint64_t size = 0;
};

// A file that grew since it was last made durable.
struct Unsynced {
    std::string file;
    base::Fd descriptor;
    std::uint64_t size = 0;
    std::string folder = {};  // if a name in it is new, it has to be synced, too
    std::uint64_t draft = 0;  // of trace.json
};

class PartFolder {
  public:
    // Makes it if it is not there, and locks it. What it has already is durable: the caller has synced the disk since a collector died.
    static Result<PartFolder> open(const std::string& path);

    // What is there and durable: an agent deletes what it is told.
    Result<std::vector<Arrived>> durable_sizes() const;
    Result<std::uint64_t> size_of(const std::string& file);

    // Appends what is beyond the end and returns the size afterwards; with a hole before `offset` nothing is written.
    // kLimitReached: the disk is full; nothing was written.
    Result<std::uint64_t> append(const std::string& file,
                                 std::uint64_t offset,
                                 std::span<const std::byte> bytes);
    Result<void> replace_info(std::string_view text);

    // What has to be synced before it may be acknowledged. Closes files that did not grow since the last call.
    std::vector<Unsynced> take_unsynced();
    // Its bytes are durable.
    void synced(const Unsynced& file);
    // The draft is durable and becomes trace.json. False: it is not the last one any more, or the disk refuses.
    bool put_info(std::uint64_t draft);

    // Nothing will come any more.
    void release();

  private:
    struct Growing {
        base::Fd descriptor;
        std::uint64_t size = 0;
        std::uint64_t durable = 0;
        bool unsynced = false;
        bool is_new = false;  // its name is not durable
    };
    struct Draft {
        base::Fd descriptor;
        std::uint64_t size = 0;
        std::uint64_t number = 0;
    };

    PartFolder(std::string path, base::Fd recording)
        : path_(std::move(path)), recording_(std::move(recording)) {}
    Result<Growing*> growing(const std::string& file);
    bool is_sealed(const std::string& file) const;
    std::string draft_path() const { return path_ + "/trace.json.new"; }

    std::string path_;
    base::Fd recording_;
    std::map<std::string, Growing> growing_;
    std::optional<Draft> info_;
    std::uint64_t drafts_ = 0;
};

}  // namespace dyetrace::transport
