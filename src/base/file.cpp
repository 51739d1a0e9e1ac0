#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>

namespace dyetrace::base {
namespace {

constexpr size_t kReadStepBytes =
    64 * 1024;  // one system call for nearly every file that we read whole

constexpr std::string_view kDraftMark = ".new-";

// Threads of one process may write the same file at once: the last to end is what stands there.
std::string draft_of(const std::string& path) {
    static std::atomic<uint64_t> drafts = 0;
    return fmt::format("{}{}{}.{}", path, kDraftMark, ::getpid(), drafts++);
}

Error failed(std::string_view doing, std::string_view path) {
    return Error::from_errno(errno, fmt::format("{} '{}'", doing, path));
}

// Repeats read_some until `into` is full, the file ends, or an error other than an interruption.
template <class ReadSome>
Result<size_t> read_repeatedly(std::span<std::byte> into, ReadSome read_some) {
    size_t size = 0;
    while (size < into.size()) {
        const ssize_t step = read_some(into.subspan(size), size);
        if (step == 0) break;
        if (step < 0 && errno != EINTR) return Error::from_errno(errno, "reading a file");
        if (step > 0) size += static_cast<size_t>(step);
    }
    return size;
}

}  // namespace

Result<Fd> open_file(const std::string& path, int flags, mode_t mode) {
    Fd file(::open(path.c_str(), flags | O_CLOEXEC, mode));
    if (!file.valid()) return failed("opening", path);
    return file;
}

Result<uint64_t> file_size(const Fd& file) {
    struct stat status = {};
    if (::fstat(file.get(), &status) != 0) return Error::from_errno(errno, "asking a file's size");
    return static_cast<uint64_t>(status.st_size);
}

static Result<std::string> read_whole(const Fd& file, const std::string& path, size_t bytes_max) {
    std::string content;
    while (true) {
        const size_t old_size = content.size();
        content.resize(std::min(old_size + kReadStepBytes, bytes_max + 1));
        const std::span<std::byte> room =
            std::as_writable_bytes(std::span(content)).subspan(old_size);
        auto step = read_up_to(file, room).with_context(fmt::format("file '{}'", path));
        TRY(const size_t size, std::move(step));
        content.resize(old_size + size);
        if (content.size() > bytes_max) {
            return Error(ErrorCode::kLimitReached,
                         fmt::format("file '{}' is larger than {} bytes", path, bytes_max));
        }
        if (size < room.size()) return content;
    }
}

Result<std::string> read_file(const std::string& path, size_t bytes_max) {
    TRY(const Fd file, open_file(path, O_RDONLY));
    return read_whole(file, path, bytes_max);
}

Result<Fd> open_regular_file(const std::string& path) {
    TRY(Fd file, open_file(path, O_RDONLY | O_NONBLOCK));
    struct stat status = {};
    if (::fstat(file.get(), &status) != 0) return failed("asking what kind of file is", path);
    if (!S_ISREG(status.st_mode)) {
        return Error(ErrorCode::kUnsupported, fmt::format("'{}' is no regular file", path));
    }
    return file;
}

Result<std::string> read_regular_file(const std::string& path, size_t bytes_max) {
    TRY(const Fd file, open_regular_file(path));
    return read_whole(file, path, bytes_max);
}

Result<size_t> read_up_to(const Fd& file, std::span<std::byte> into) {
    return read_repeatedly(into, [&](std::span<std::byte> rest, size_t) {
        return ::read(file.get(), rest.data(), rest.size());
    });
}

Result<size_t> read_up_to_at(const Fd& file, std::span<std::byte> into, uint64_t offset) {
    return read_repeatedly(into, [&](std::span<std::byte> rest, size_t done) {
        return ::pread(file.get(), rest.data(), rest.size(), static_cast<off_t>(offset + done));
    });
}

Result<void> write_all(const Fd& file, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t step = ::write(file.get(), bytes.data(), bytes.size());
        if (step < 0 && errno != EINTR) return Error::from_errno(errno, "writing a file");
        if (step > 0) bytes = bytes.subspan(static_cast<size_t>(step));
    }
    return {};
}

std::string begin_draft(const std::string& path) {
    const std::string beginning = path + std::string(kDraftMark);
    const auto names = list_folder(parent_folder(path));
    for (const std::string& name : names.ok() ? names.value() : std::vector<std::string>()) {
        const std::string other = std::filesystem::path(path).replace_filename(name);
        if (!other.starts_with(beginning)) continue;
        const pid_t writer = std::atoi(other.c_str() + beginning.size());
        if (writer > 0 && ::kill(writer, 0) != 0 && errno == ESRCH) ::unlink(other.c_str());
    }
    return draft_of(path);
}

Result<Fd> create_draft(const std::string& draft, mode_t mode) {
    ::unlink(draft.c_str());
    return open_file(draft, O_WRONLY | O_CREAT | O_EXCL, mode);
}

Result<void> write_file_atomically(const std::string& path, std::string_view content) {
    const std::string draft = draft_of(path);
    const auto write_draft = [&]() -> Result<void> {
        TRY(Fd file, create_draft(draft));
        TRY(write_all(file, bytes_of(content)));
        TRY(sync_file(file));
        TRY(file.close());
        return rename_file(draft, path);
    };
    Result<void> written = write_draft();
    if (!written.ok()) ::unlink(draft.c_str());
    return std::move(written).with_context(fmt::format("writing '{}'", path));
}

Result<void> sync_file(const Fd& file) {
    if (::fsync(file.get()) != 0) return Error::from_errno(errno, "syncing a file");
    return {};
}

Result<void> sync_folder(const std::string& path) {
    TRY(const Fd folder, open_file(path, O_RDONLY | O_DIRECTORY));
    return sync_file(folder).with_context(fmt::format("folder '{}'", path));
}

Result<void> rename_file(const std::string& from, const std::string& to) {
    if (::rename(from.c_str(), to.c_str()) != 0) {
        return Error::from_errno(errno, fmt::format("renaming '{}' to '{}'", from, to));
    }
    TRY(sync_folder(parent_folder(to)));
    if (parent_folder(from) != parent_folder(to)) TRY(sync_folder(parent_folder(from)));
    return {};
}

Result<void> make_folders(const std::string& path) {
    for (size_t end = 0; end != std::string::npos;) {
        end = path.find('/', end + 1);
        const std::string part = path.substr(0, end);
        if (::mkdir(part.c_str(), 0755) != 0 && errno != EEXIST) return failed("making", part);
    }
    return {};
}

Result<void> remove_file(const std::string& path) {
    if (::unlink(path.c_str()) != 0) return failed("removing", path);
    return {};
}

Result<std::vector<std::string>> list_folder(const std::string& path) {
    const auto close = [](DIR* folder) { ::closedir(folder); };
    const std::unique_ptr<DIR, decltype(close)> folder(::opendir(path.c_str()), close);
    if (!folder) return failed("listing", path);
    std::vector<std::string> names;
    while (true) {
        errno = 0;  // the end of the folder and a failure differ in errno only
        const dirent* entry = ::readdir(folder.get());
        if (!entry) break;
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
    }
    if (errno != 0) return failed("listing", path);
    std::sort(names.begin(), names.end());
    return names;
}

uint64_t bytes_in_folder(const std::string& path) {
    uint64_t bytes = 0;
    std::error_code error;
    for (auto at = std::filesystem::recursive_directory_iterator(path, error);
         !error && at != std::filesystem::recursive_directory_iterator();
         at.increment(error)) {
        std::error_code vanished;
        const uint64_t size = at->is_regular_file(vanished) ? at->file_size(vanished) : 0;
        bytes += vanished ? 0 : size;
    }
    return bytes;
}

std::string parent_folder(std::string_view path) {
    const size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) return ".";
    return std::string(path.substr(0, std::max<size_t>(slash, 1)));
}

}  // namespace dyetrace::base
