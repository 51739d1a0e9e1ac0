// Tables that a reader computes from all events (`made` in tables.toml): rows of numbers, named by a public view above them.
#pragma once

#include <cstdint>
#include <span>

namespace dyetrace::schema {

// Stands for NULL in a row.
inline constexpr std::uint64_t kDerivedNull = UINT64_MAX;

struct DerivedColumn {
    const char* name;
    bool is_small;  // UTINYINT; else UBIGINT
};

struct DerivedTable {
    const char* name;
    std::span<const DerivedColumn> columns;
};

std::span<const DerivedTable> derived_tables();

}  // namespace dyetrace::schema
