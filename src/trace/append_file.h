// Where a segment's bytes go: a file, or in tests something that is full after so many bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace dyetrace::trace {

// A gap, the accounting of some hundred CPUs and an end block.
inline constexpr std::size_t kLastWordsBytes = 32 * 1024;

class AppendFile {
  public:
    virtual ~AppendFile() = default;
    // All of it or nothing. Room for kLastWordsBytes stays behind it, where the file system can promise room.
    virtual Result<void> append(std::span<const std::byte> bytes) = 0;
    // Into that room: when append() has failed.
    virtual Result<void> append_last_words(std::span<const std::byte> bytes) = 0;
};

// A new file on disk; an existing one is an error.
Result<std::unique_ptr<AppendFile>> create_append_file(const std::string& path);
// The same, for nobody but its owner.
Result<std::unique_ptr<AppendFile>> create_private_append_file(const std::string& path);

}  // namespace dyetrace::trace
