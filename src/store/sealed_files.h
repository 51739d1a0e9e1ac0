// The Parquet files of sealed segments: which can be trusted, and what the others cost. For this folder's sources only.
//
// A file that is missing, cut or changed is left out and becomes a gap of its own; all others are read. Where the segment
// itself is still there, the caller reads that instead.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trace/segment_reader.h"
#include "trace/trace_folder.h"

namespace dyetrace::store {

// Something of a trace that cannot be read: for people, and as a gap.
struct Damage {
    std::string text;  // which file, what is wrong, what is lost, what to do; one line
    trace::LostRange lost;
};

struct SealedFolder {
    std::string path;
    std::vector<std::string> records;  // whose <record>.parquet is as it was written
    std::vector<Damage> damages;
    bool recorder_died = false;
    std::uint64_t events = 0;            // records of that stream, as its segment.json says
    std::uint64_t columns = 0;           // as trace::SealedInfo
    std::optional<std::uint64_t> bytes;  // of all its files, as its segment.json says
};

// SealedInfo::columns of what this version writes: all records with all their columns.
std::uint64_t current_columns();

// Looks at each folder once: sealed files never change.
class SealedFiles {
  public:
    // Every byte of the first `check_bytes_max` is looked at; of what comes later only that it is there, and whole.
    explicit SealedFiles(std::uint64_t check_bytes_max) : unchecked_bytes_(check_bytes_max) {}

    const SealedFolder& look(const trace::TraceFolder& folder, std::uint64_t number);

  private:
    SealedFolder check(const trace::TraceFolder& folder, std::uint64_t number);

    std::uint64_t unchecked_bytes_;
    std::map<std::string, SealedFolder> known_;  // by path
};

// A segment of which nothing can be read, `what` being wrong with it.
Damage lost_segment(const trace::TraceFolder& folder,
                    std::uint64_t number,
                    const std::string& what);

}  // namespace dyetrace::store
