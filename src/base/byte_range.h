// A range of bytes as people give it: FROM-TO, or FROM- to the end; an empty text is all.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace dyetrace::base {

struct ByteRange {
    std::uint64_t from = 0, to = UINT64_MAX;  // the last one not included
};

Result<ByteRange> byte_range(const std::string& text);

}  // namespace dyetrace::base
