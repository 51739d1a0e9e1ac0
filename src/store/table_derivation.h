// A table of schema::derived_tables() whose rows another folder computes, when it is first asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace dyetrace::store {

class Database;

// Adds numbers, row after row, schema::kDerivedNull for NULL; adds none: there are no more.
using RowSource = std::function<Result<void>(std::vector<std::uint64_t>& numbers)>;

struct TableDerivation {
    std::string name;
    std::uint32_t version = 1;  // of its rules: what an older one made is made again
    std::function<Result<RowSource>(Database&)> start;
};

}  // namespace dyetrace::store
