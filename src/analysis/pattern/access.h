// One read or write as the analysis of patterns sees it: which bytes of which file, in the order in which they were asked for.
#pragma once

#include <cstdint>
#include <optional>

namespace dyetrace::analysis {

struct Access {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;     // above 0
    std::uint64_t start_ns = 0;  // of the trace's clock
    std::optional<std::uint64_t> fingerprint = std::nullopt;
    std::uint32_t file = 0;  // numbered by the caller, in the order of their names

    std::uint64_t end() const { return offset + bytes; }
};

}  // namespace dyetrace::analysis
