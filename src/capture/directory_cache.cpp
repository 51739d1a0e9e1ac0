#include "capture/directory_cache.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>
#include <vector>

#include "base/fd.h"
#include "capture/iterator.h"
#include "schema/generated/syscalls.bpf.h"
// the skeleton uses the types above
#include "kernel/dyetrace.skel.h"

namespace dyetrace::capture {
namespace {

constexpr const char* kPathSource = "objects of paths";
constexpr const char* kNotFound = "calls by path (stat, unlink, rename) have no object";
constexpr const char* kPartial =
    "a call by path (stat, unlink, rename) has its object where the kernel's cache of names has it "
    "when the call ends: not where a directory compares names in a way of its own (letter case), "
    "and not through a symbolic link of overlayfs or sysfs, a long one of XFS, ext2 or ext3, a "
    "task's in /proc but fd, cwd, root and exe, more than 8 links in one another, or more than "
    "2,560 components";
// Folders that every system has, with enough in them.
constexpr const char* kFolders[] = {"/", "/proc/self", "/etc", "/usr", "/usr/bin", "/proc"};
constexpr std::size_t kOpenMax = 128;
constexpr std::size_t kAgreeMin = 8;
// A table has 2^32 >> shift buckets: from a page of them to 2^30.
constexpr std::uint32_t kShiftMin = 2, kShiftMax = 23;

// Open entries of the cache, for the iterator to show.
std::vector<base::Fd> open_some() {
    std::vector<base::Fd> opened;
    for (const char* folder : kFolders) {
        std::error_code error;
        for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
             at.increment(error)) {
            if (opened.size() == kOpenMax) {
                return opened;
            }
            base::Fd entry(open(at->path().c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
            if (entry.valid()) {
                opened.push_back(std::move(entry));
            }
        }
    }
    return opened;
}

}  // namespace

std::optional<DirectoryCache> cache_of(std::span<const directory_entry> entries) {
    DirectoryCache best;
    std::size_t most = 0, second = 0;  // that agree, of one shift
    for (std::uint32_t shift = kShiftMin; shift <= kShiftMax; ++shift) {
        std::map<std::uint64_t, std::size_t> votes;
        std::size_t most_here = 0;
        std::uint64_t buckets = 0;
        for (const directory_entry& entry : entries) {
            const std::uint64_t bucket = std::uint64_t{entry.hash >> shift} * sizeof(std::uint64_t);
            if (const std::size_t agreeing = ++votes[entry.pointed_to_at - bucket];
                agreeing > most_here) {
                most_here = agreeing;
                buckets = entry.pointed_to_at - bucket;
            }
        }
        second = std::max(second, std::min(most, most_here));
        if (most_here > most) {
            most = most_here;
            best = {buckets, shift};
        }
    }
    const bool is_sure = most >= kAgreeMin && most * 2 > entries.size() && second * 2 < most;
    return is_sure ? std::optional(best) : std::nullopt;
}

Source find_directory_cache(dyetrace_bpf& skeleton) {
    const std::vector<base::Fd> opened = open_some();
    std::vector<std::byte> written;
    if (const auto walked =
            run_iterator(skeleton.progs.show_directory_entry, {.process = getpid()}, &written);
        !walked.ok()) {
        return {kPathSource, schema::CoverageState::kOff, walked.error().text() + "; " + kNotFound};
    }
    std::vector<directory_entry> entries(written.size() / sizeof(directory_entry));
    std::memcpy(entries.data(), written.data(), entries.size() * sizeof(directory_entry));
    const std::optional<DirectoryCache> cache = cache_of(entries);
    if (!cache) {
        return {kPathSource,
                schema::CoverageState::kOff,
                std::string("where the kernel's cache of names is cannot be told; ") + kNotFound};
    }
    skeleton.bss->directory_shift = cache->shift;
    skeleton.bss->directory_buckets = cache->buckets;
    return {kPathSource, schema::CoverageState::kPartial, kPartial};
}

}  // namespace dyetrace::capture
