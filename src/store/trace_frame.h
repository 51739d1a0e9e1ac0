// What is the same in every trace, and what readers without dyetrace need of it from the first moment on: the names of calls and flags, and each table
// without rows. DuckDB takes 0.1 s to write it, more than to seal a small trace, so it is written while dyetrace is built. So are the rows of
// internal.numbered_calls, which each question needs and DuckDB takes 10 ms to make.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace dyetrace::store {

struct FrameFile {
    std::string_view name;   // "flags.parquet", "flows.parquet"
    std::string_view bytes;  // Parquet
    enum class Kind { kLabels, kRecords, kDerived } kind;
};

std::span<const FrameFile> trace_frame();

// A call by its number in one of the tables of calls (prelude.sql, internal.numbered_calls). Empty texts and 0 are NULL.
struct NumberedCall {
    std::int32_t abi;
    std::int32_t number;
    std::string_view name;
    std::string_view transfer;
    std::int32_t message_flags_at;
    std::string_view cuts;
};

std::span<const NumberedCall> numbered_calls();

}  // namespace dyetrace::store
