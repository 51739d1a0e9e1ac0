// Files as values: whole reads, whole writes, and a write that is there completely or not at all.
//
//   TRY(std::string options, read_file(folder + "/trace.json", kTraceJsonBytesMax));
//   TRY(write_file_atomically(folder + "/trace.json", json.text()));
//
// Every read states the most it is ready to hold. Files in /proc and /sys work: their size is not
// believed. Interrupted and partial system calls are continued. Errors name the path.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace dyetrace::base {

inline constexpr mode_t kPrivateFile = 0600;  // what is in a trace may be secret

// open(2) with O_CLOEXEC added.
Result<Fd> open_file(const std::string& path, int flags, mode_t mode = 0644);
Result<uint64_t> file_size(const Fd& file);

// kLimitReached when there is more than bytes_max.
Result<std::string> read_file(const std::string& path, size_t bytes_max);

// For reading what others made, in whose folders anything may lie: a pipe under that name would be waited for, a device would never end.
// kUnsupported if it is no regular file.
Result<Fd> open_regular_file(const std::string& path);
Result<std::string> read_regular_file(const std::string& path, size_t bytes_max);

// Reads as many bytes as there are, up to into.size(), from the file's position or from `offset`.
Result<size_t> read_up_to(const Fd& file, std::span<std::byte> into);
Result<size_t> read_up_to_at(const Fd& file, std::span<std::byte> into, uint64_t offset);
Result<void> write_all(const Fd& file, std::span<const std::byte> bytes);

//   path.new-<pid>.<n>  --write, fsync-->  --rename-->  path  --fsync of the folder-->  done
// Readers see the old file or the new one; after success a crash of the machine does not undo it.
Result<void> write_file_atomically(const std::string& path, std::string_view content);
// The name of such a draft, for who writes it otherwise. Drafts of processes that were killed while they wrote are removed.
std::string begin_draft(const std::string& path);
// Creates it for writing. What lies there under this name, perhaps somebody else's link to a file that matters, is taken away first and
// never followed.
Result<Fd> create_draft(const std::string& draft, mode_t mode = 0644);
Result<void> sync_file(const Fd& file);
Result<void> sync_folder(const std::string& path);
Result<void> rename_file(const std::string& from, const std::string& to);  // both folders synced

Result<void> make_folders(const std::string& path);  // with parents; existing ones are fine
Result<void> remove_file(const std::string& path);   // kNotFound when it is not there
// Names, sorted, without . and ..
Result<std::vector<std::string>> list_folder(const std::string& path);
// Sum of the sizes of all files below; what cannot be looked at, or vanishes meanwhile, counts 0.
uint64_t bytes_in_folder(const std::string& path);
std::string parent_folder(std::string_view path);  // "a/b" -> "a", "a" -> ".", "/a" -> "/"

inline std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}
inline std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace dyetrace::base
