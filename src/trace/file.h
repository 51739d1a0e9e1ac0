// Files as this folder needs them: owned descriptors whose failures come back as Errors that name the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dyetrace::trace {

// Owns one descriptor. Always close-on-exec: a traced command must not inherit the trace.
class File {
  public:
    static Result<File> open(const std::string& path, int flags, unsigned mode = 0644);

    File() = default;
    File(File&& other) noexcept;
    File& operator=(File&& other) noexcept;
    ~File();

    bool is_open() const { return fd_ >= 0; }
    int fd() const { return fd_; }
    const std::string& path() const { return path_; }

    Result<std::uint64_t> size() const;
    // Bytes read: fewer than asked for only at the end of the file.
    Result<std::size_t> read_at(std::uint64_t position, std::span<std::byte> into) const;
    Result<void> write(std::span<const std::byte> bytes) const;
    Result<void> truncate(std::uint64_t size) const;

  private:
    File(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

    int fd_ = -1;
    std::string path_;
};

// Where a segment's bytes go: a file, or in tests something that is full after so many bytes.
class AppendFile {
  public:
    virtual ~AppendFile() = default;
    virtual Result<void> append(std::span<const std::byte> bytes) = 0;
    // Takes back what a failed append left.
    virtual Result<void> truncate(std::uint64_t size) = 0;
};

// A new file on disk; an existing one is an error.
Result<std::unique_ptr<AppendFile>> create_append_file(const std::string& path);

// At most `bytes_max` bytes; a larger file is kCorrupt.
Result<std::string> read_whole_file(const std::string& path, std::size_t bytes_max);
// The same for files of /proc, whose size is said to be 0; cut at `bytes_max`.
Result<std::string> read_whole_file_of_unknown_size(const std::string& path, std::size_t bytes_max);
// Appears under its name with all its bytes, or not at all.
Result<void> replace_file(const std::string& path, std::string_view bytes);
// Names in a folder, sorted, without . and ..
Result<std::vector<std::string>> list_folder(const std::string& path);

}  // namespace dyetrace::trace
