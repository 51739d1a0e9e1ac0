// Where a segment's bytes go: a file, or in tests something that is full after so many bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace dyetrace::trace {

class AppendFile {
  public:
    virtual ~AppendFile() = default;
    virtual Result<void> append(std::span<const std::byte> bytes) = 0;
    // Takes back what a failed append left.
    virtual Result<void> truncate(std::uint64_t size) = 0;
};

// A new file on disk; an existing one is an error.
Result<std::unique_ptr<AppendFile>> create_append_file(const std::string& path);

}  // namespace dyetrace::trace
