// What is the same in every trace, and what readers without dyetrace need of it from the first moment on: the names of calls and flags, and each table
// without rows. DuckDB takes 0.1 s to write it, more than to seal a small trace, so it is written while dyetrace is built.
#pragma once

#include <span>
#include <string_view>

namespace dyetrace::store {

struct FrameFile {
    std::string_view name;   // "flags.parquet", "flows.parquet"
    std::string_view bytes;  // Parquet
    enum class Kind { kLabels, kRecords, kDerived } kind;
};

std::span<const FrameFile> trace_frame();

}  // namespace dyetrace::store
