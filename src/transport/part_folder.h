// The trace of one host on the collector's disk, as it arrives.
//
//   20261122T094512-ab12/host-0003/
//     trace.json            replaced when the agent sends another
//     segment-000007.seg    grows by what follows its end, never otherwise
//     recording             locked here while the agent may still send: readers see a trace that is being recorded
//
// The sizes of the files are the only book of what has arrived: a collector that was killed asks the disk.
//
// Limits: one thread. File names from outside are compared with the few that a trace has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace dyetrace::transport {

// Size of a file that is Parquet by now: all of it is here.
inline constexpr std::uint64_t kWholeFile = UINT64_MAX;

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
};

class PartFolder {
  public:
    // Makes it if it is not there, and locks it.
    static Result<PartFolder> open(const std::string& path);

    // What is there, after it was made durable: an agent deletes what it is told.
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

    // Nothing will come any more.
    void release();

  private:
    struct Growing {
        base::Fd descriptor;
        std::uint64_t size = 0;
        bool unsynced = false;
    };

    PartFolder(std::string path, base::Fd recording)
        : path_(std::move(path)), recording_(std::move(recording)) {}
    Result<Growing*> growing(const std::string& file);
    bool is_sealed(const std::string& file) const;

    std::string path_;
    base::Fd recording_;
    std::map<std::string, Growing> growing_;
};

}  // namespace dyetrace::transport
