// Tables that a reader computes from all events (`made` in tables.toml): rows of numbers, named by a public view above them.
#pragma once

#include <cstdint>
#include <span>

namespace dyetrace::schema {

// Stands for NULL in a row.
inline constexpr std::uint64_t kMadeNull = UINT64_MAX;

struct MadeColumn {
    const char* name;
    bool is_small;  // UTINYINT; else UBIGINT
};

struct MadeTable {
    const char* name;
    std::span<const MadeColumn> columns;
};

std::span<const MadeTable> made_tables();

}  // namespace dyetrace::schema
