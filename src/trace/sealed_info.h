// segment.json in a sealed folder: what a reader wants to know of a segment without reading its Parquet files.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace dyetrace::trace {

struct SealedInfo {
    std::uint64_t number = 0;
    std::uint64_t events = 0;  // records of the stream `events`
    std::uint64_t facts = 0;
    std::uint64_t last_written_ns = 0;  // CLOCK_BOOTTIME at which its last block was made
    bool recorder_died = false;         // its gaps tell that the recorder died
    bool operator==(const SealedInfo&) const = default;
};

Result<void> write_sealed_info(const std::string& sealed_folder, const SealedInfo& info);
Result<SealedInfo> read_sealed_info(const std::string& sealed_folder);

}  // namespace dyetrace::trace
