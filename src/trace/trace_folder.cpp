#include "trace/trace_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/process_stat.h"
#include "trace/payload_file.h"

namespace dyetrace::trace {
namespace {

constexpr std::string_view kSegmentPrefix = "segment-";
constexpr std::string_view kSegmentSuffix = ".seg";
constexpr std::string_view kSealedPrefix = "sealed-";
constexpr std::string_view kPartPrefix = "host-";

constexpr std::size_t kNumberDigits = 6, kPartDigits = 4;

// The number in "<prefix>000012<suffix>", of at least so many digits.
std::optional<std::uint64_t> number_in(std::string_view name,
                                       std::string_view prefix,
                                       std::string_view suffix,
                                       std::size_t digits) {
    if (!name.starts_with(prefix) || !name.ends_with(suffix) ||
        name.size() < prefix.size() + suffix.size() + digits) {
        return std::nullopt;
    }
    name = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size() || number > kSegmentsMax) {
        return std::nullopt;
    }
    return number;
}

Result<std::vector<std::uint64_t>> numbers(const std::string& path,
                                           std::string_view prefix,
                                           std::string_view suffix) {
    TRY(const std::vector<std::string> names, base::list_folder(path));
    std::vector<std::uint64_t> found;
    for (const std::string& name : names) {
        if (const auto number = number_in(name, prefix, suffix, kNumberDigits);
            number && *number > 0) {
            found.push_back(*number);
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

// 0 if it cannot be read.
std::uint64_t own_start_ticks() {
    return base::stat_of("/proc/self", base::StatWord::kStartTicks).value_or(0);
}

std::string info_path(const std::string& folder) {
    return folder + "/trace.json";
}
std::string finished_path(const std::string& folder) {
    return folder + "/trace.json.finished";
}
std::string recording_path(const std::string& folder) {
    return folder + "/recording";
}

// Nobody holds the lock that a recorder has from create() to its end.
Result<bool> recorder_is_gone(const std::string& folder) {
    auto file = base::open_file(recording_path(folder), O_RDONLY);
    if (!file.ok()) {
        if (file.error().code() == ErrorCode::kNotFound) {
            return true;
        }
        return std::move(file).error();
    }
    if (::flock(file.value().get(), LOCK_SH | LOCK_NB) == 0) {
        return true;
    }
    if (errno == EWOULDBLOCK) {
        return false;
    }
    return Error::from_errno(errno, fmt::format("cannot ask who records '{}'", folder));
}

// Why trace.json cannot be read, as somebody wants to know it who named the wrong thing.
Error no_trace(const std::string& path, const Error& error) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 && errno == ENOENT) {
        return Error(error.code(), fmt::format("there is no trace '{}'", path));
    }
    if (status.st_mode != 0 && !S_ISDIR(status.st_mode)) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("'{}' is {}; a trace is a folder",
                                 path,
                                 S_ISREG(status.st_mode) ? "a file" : "no folder"));
    }
    return Error(error.code(),
                 error.code() == ErrorCode::kNotFound
                     ? fmt::format("'{}' is no trace: it has no trace.json", path)
                     : error.text());
}

// What is made in it later has the same group.
Result<void> share_with(const std::string& path, gid_t group) {
    if (::chown(path.c_str(), static_cast<uid_t>(-1), group) != 0 ||
        ::chmod(path.c_str(), 02750) != 0) {
        return Error::from_errno(errno, fmt::format("giving '{}' to the group {}", path, group));
    }
    return {};
}

}  // namespace

void keep_files_private(const std::string& path) {
    struct stat status {};
    const bool is_there = ::stat(path.c_str(), &status) == 0;
    if (is_there && status.st_uid != ::geteuid()) {
        ::umask(0022);
        return;
    }
    ::umask(is_there && (status.st_mode & S_IRGRP) != 0 ? 0027 : 0077);
}

std::vector<std::uint64_t> SegmentList::missing() const {
    std::vector<std::uint64_t> present = sealed;
    present.insert(present.end(), recorded.begin(), recorded.end());
    std::sort(present.begin(), present.end());
    std::vector<std::uint64_t> absent;
    std::uint64_t expected = 1;
    for (const std::uint64_t number : present) {
        for (; expected < number; ++expected) {
            absent.push_back(expected);
        }
        expected = number + 1;
    }
    return absent;
}

Result<void> TraceFolder::expect_free(const std::string& path) {
    if (::access(path.c_str(), F_OK) != 0) {
        return {};
    }
    std::error_code error;
    if (!std::filesystem::is_directory(path, error) && !error) {
        return Error(ErrorCode::kAlreadyExists,
                     fmt::format("'{}' is there and no folder: take another name", path));
    }
    TRY(const std::vector<std::string> names, base::list_folder(path));
    if (!names.empty()) {
        return Error(ErrorCode::kAlreadyExists,
                     fmt::format("'{}' is there and not empty: take another name", path));
    }
    return {};
}

Result<void> TraceFolder::expect_outside(const std::string& output) {
    std::error_code error;
    std::filesystem::path place = std::filesystem::absolute(output, error);
    place = std::filesystem::weakly_canonical(place, error);
    for (; place.has_relative_path(); place = place.parent_path()) {
        if (open(place.string()).ok()) {
            return Error(ErrorCode::kInvalidArgument,
                         fmt::format("'{}' would lie in the trace '{}': take another place",
                                     output,
                                     place.string()));
        }
    }
    return {};
}

Result<TraceFolder> TraceFolder::create(const std::string& path,
                                        TraceInfo info,
                                        std::optional<gid_t> group) {
    const bool made = ::mkdir(path.c_str(), 0700) == 0;
    if (!made && errno != EEXIST) {
        return Error::from_errno(errno, fmt::format("cannot make the trace '{}'", path));
    }
    if (Result<void> shared = made && group ? share_with(path, *group) : Result<void>();
        !shared.ok()) {
        ::rmdir(path.c_str());
        return shared.error();
    }
    TRY(expect_free(path));
    info.state = TraceState::kRecording;
    info.recorder_pid = ::getpid();
    info.recorder_start_ticks = own_start_ticks();
    TraceFolder folder(path, std::move(info));
    folder.made_ = made;
    if (Result<void> occupied = folder.occupy(); !occupied.ok()) {
        folder.discard();
        return std::move(occupied).error().with_context(
            fmt::format("cannot make the trace '{}'", path));
    }
    return folder;
}

Result<void> TraceFolder::occupy() {
    TRY(lock());
    TRY(keep_reserve());
    return write_both_infos();
}

Result<void> TraceFolder::write_both_infos() const {
    TraceInfo finished = info_;
    finished.state = TraceState::kFinished;
    TRY(base::write_file_atomically(finished_path(path_), to_json(finished)));
    return write_info();
}

Result<TraceFolder> TraceFolder::resume(const std::string& path) {
    TRY(TraceFolder folder, open(path));
    TRY(folder.lock());
    TRY(const TraceFolder now, open(path));  // nobody ends it any more
    folder.info_ = now.info_;
    if (folder.info_.state != TraceState::kRecording) {
        ::unlink(recording_path(path).c_str());
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("'{}' has ended: nothing can be added to it", path));
    }
    folder.info_.recorder_pid = ::getpid();
    folder.info_.recorder_start_ticks = own_start_ticks();
    TRY(folder.write_both_infos());
    return folder;
}

Result<TraceFolder> TraceFolder::open(const std::string& path) {
    auto text = base::read_regular_file(info_path(path), kTraceInfoBytesMax);
    if (!text.ok()) {
        return no_trace(path, text.error());
    }
    auto info = parse_trace_info(text.value());
    if (!info.ok()) {
        return std::move(info).error().with_context(
            fmt::format("cannot read '{}'", info_path(path)));
    }
    return TraceFolder(path, std::move(info).value());
}

Result<void> TraceFolder::check_kinds() const {
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator at(path_, error), end; !error && at != end;
         at.increment(error)) {
        std::error_code ignored;
        const std::filesystem::file_type type = at->symlink_status(ignored).type();
        if (type == std::filesystem::file_type::symlink) {
            return Error(ErrorCode::kUnsupported,
                         fmt::format("'{}' is a link: a trace has none", at->path().string()));
        }
        // A recorder listens at a socket in it, which nobody waits for who opens it.
        if (type == std::filesystem::file_type::fifo ||
            type == std::filesystem::file_type::character ||
            type == std::filesystem::file_type::block) {
            return Error(ErrorCode::kUnsupported,
                         fmt::format("'{}' is a pipe or a device: a trace has no such file",
                                     at->path().string()));
        }
    }
    return {};
}

std::string TraceFolder::part_path(std::uint16_t host_index) const {
    return fmt::format("{}/{}{:04}", path_, kPartPrefix, host_index);
}

Result<std::vector<TraceFolder>> TraceFolder::parts() const {
    std::vector<TraceFolder> parts;
    if (!info_.has_parts) {
        parts.push_back(TraceFolder(path_, info_));
        return parts;
    }
    TRY(std::vector<std::string> names, base::list_folder(path_));
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
        if (!number_in(name, kPartPrefix, "", kPartDigits)) {
            continue;
        }
        auto part = open(path_ + "/" + name);
        if (!part.ok() && part.error().code() == ErrorCode::kNotFound) {
            continue;  // it is being made
        }
        TRY(TraceFolder opened, std::move(part));
        if (opened.info_.has_parts) {
            return Error(
                ErrorCode::kCorrupt,
                fmt::format("'{}' is a part of a trace and has parts itself", opened.path()));
        }
        parts.push_back(std::move(opened));
    }
    return parts;
}

std::string TraceFolder::segment_path(std::uint64_t number) const {
    return fmt::format("{}/{}{:06}{}", path_, kSegmentPrefix, number, kSegmentSuffix);
}

std::string TraceFolder::sealed_path(std::uint64_t number) const {
    return fmt::format("{}/{}{:06}", path_, kSealedPrefix, number);
}

// Segments first: one that the first look does not find was unlinked before, so the second finds its Parquet files.
Result<SegmentList> TraceFolder::list() const {
    SegmentList list;
    TRY(const std::vector<std::uint64_t> recorded, numbers(path_, kSegmentPrefix, kSegmentSuffix));
    TRY(list.sealed, numbers(path_, kSealedPrefix, ""));
    std::set_difference(recorded.begin(),
                        recorded.end(),
                        list.sealed.begin(),
                        list.sealed.end(),
                        std::back_inserter(list.recorded));
    return list;
}

// The lock is asked first: a recorder writes trace.json before it lets go.
Result<TraceState> TraceFolder::current_state() {
    TRY(const bool gone, recorder_is_gone(path_));
    TRY(const TraceFolder now, open(path_));
    info_ = now.info_;
    return gone && info_.state == TraceState::kRecording ? TraceState::kDied : info_.state;
}

Result<void> TraceFolder::finish() {
    info_.state = TraceState::kFinished;
    TRY(base::rename_file(finished_path(path_), info_path(path_)));
    ::unlink(recording_path(path_).c_str());
    leave();
    return {};
}

void TraceFolder::discard() {
    for (const std::string& path : {segment_path(1),
                                    payload_path(path_),
                                    info_path(path_),
                                    finished_path(path_),
                                    recording_path(path_)}) {
        ::unlink(path.c_str());
    }
    recording_.reset();
    if (made_) {
        ::rmdir(path_.c_str());
    }
}

Result<void> TraceFolder::mark_died() {
    info_.state = TraceState::kDied;
    TRY(write_info());
    ::unlink(finished_path(path_).c_str());
    ::unlink(recording_path(path_).c_str());
    return {};
}

void TraceFolder::release_reserve() {
    if (recording_.valid()) {
        static_cast<void>(::ftruncate(recording_.get(), 0) == 0);
    }
}

Result<void> TraceFolder::lock() {
    TRY(recording_, base::open_file(recording_path(path_), O_RDWR | O_CREAT));
    if (::flock(recording_.get(), LOCK_EX | LOCK_NB) == 0) {
        return {};
    }
    if (errno == EWOULDBLOCK) {
        return Error(ErrorCode::kUnavailable,
                     fmt::format("'{}' is being recorded by somebody else", path_));
    }
    return Error::from_errno(errno, fmt::format("cannot lock '{}'", recording_path(path_)));
}

Result<void> TraceFolder::keep_reserve() const {
    // Random-looking, so that a file system that compresses keeps the room too.
    std::vector<std::byte> buffer(kReserveBytes);
    std::uint64_t state = 1;
    for (std::byte& byte : buffer) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        byte = static_cast<std::byte>(state >> 56);
    }
    return base::write_all(recording_, buffer)
        .with_context(fmt::format("writing '{}'", recording_path(path_)));
}

Result<void> TraceFolder::write_info() const {
    return base::write_file_atomically(info_path(path_), to_json(info_));
}

}  // namespace dyetrace::trace
