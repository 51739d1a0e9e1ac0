// Owns one stretch of mapped memory and unmaps it.
//
//   TRY(Mapping segment, Mapping::of_file(path));
//   for (std::byte b : segment.bytes()) ...
//
// A file that another process shortens while it is mapped ends the reader with SIGBUS: map only
// files that do not change (sealed segments), read the others (base/file.h).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"

namespace dyetrace::base {

inline constexpr std::size_t kPageBytes = 4096;

class Mapping {
  public:
    // A whole file, read-only. Empty files give empty mappings.
    static Result<Mapping> of_file(const std::string& path);

    // mmap(2) as it is: protection PROT_*, flags MAP_*; size in bytes, at least 1.
    static Result<Mapping> make(size_t size, int protection, int flags, int fd, off_t offset);

    Mapping() = default;
    Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
    Mapping& operator=(Mapping&& other) noexcept;
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping() { reset(); }

    std::span<const std::byte> bytes() const { return bytes_; }
    std::span<std::byte> writable_bytes() { return bytes_; }  // only if made with PROT_WRITE
    void reset();

  private:
    explicit Mapping(std::span<std::byte> bytes) : bytes_(bytes) {}

    std::span<std::byte> bytes_;
};

}  // namespace dyetrace::base
