#include "trace/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>

namespace dyetrace::trace {
namespace {

class DiskAppendFile : public AppendFile {
  public:
    explicit DiskAppendFile(File file) : file_(std::move(file)) {}
    Result<void> append(std::span<const std::byte> bytes) override { return file_.write(bytes); }
    Result<void> truncate(std::uint64_t size) override { return file_.truncate(size); }

  private:
    File file_;
};

}  // namespace

Result<File> File::open(const std::string& path, int flags, unsigned mode) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    if (fd < 0) {
        return Error::from_errno(errno, fmt::format("cannot open '{}'", path));
    }
    return File(fd, path);
}

File::File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
    if (this != &other) {
        if (fd_ >= 0) {
            ::close(fd_);
        }
        fd_ = std::exchange(other.fd_, -1);
        path_ = std::move(other.path_);
    }
    return *this;
}

File::~File() {
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

Result<std::uint64_t> File::size() const {
    struct stat status {};
    if (::fstat(fd_, &status) != 0) {
        return Error::from_errno(errno, fmt::format("cannot read the size of '{}'", path_));
    }
    return static_cast<std::uint64_t>(status.st_size);
}

Result<std::size_t> File::read_at(std::uint64_t position, std::span<std::byte> into) const {
    std::size_t done = 0;
    while (done < into.size()) {
        const ssize_t got =
            ::pread(fd_, into.data() + done, into.size() - done, static_cast<off_t>(position + done));
        if (got < 0 && errno != EINTR) {
            return Error::from_errno(errno, fmt::format("cannot read '{}'", path_));
        }
        if (got == 0) {
            break;
        }
        done += got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    return done;
}

Result<void> File::write(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR) {
            return Error::from_errno(errno, fmt::format("cannot write '{}'", path_));
        }
        bytes = bytes.subspan(written > 0 ? static_cast<std::size_t>(written) : 0);
    }
    return {};
}

Result<void> File::truncate(std::uint64_t size) const {
    if (::ftruncate(fd_, static_cast<off_t>(size)) != 0) {
        return Error::from_errno(errno, fmt::format("cannot shorten '{}'", path_));
    }
    return {};
}

Result<std::unique_ptr<AppendFile>> create_append_file(const std::string& path) {
    TRY(File file, File::open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND));
    return std::unique_ptr<AppendFile>(std::make_unique<DiskAppendFile>(std::move(file)));
}

Result<std::string> read_whole_file(const std::string& path, std::size_t bytes_max) {
    TRY(File file, File::open(path, O_RDONLY));
    TRY(const std::uint64_t size, file.size());
    if (size > bytes_max) {
        return Error(ErrorCode::kCorrupt, fmt::format("'{}' is larger than {} bytes", path, bytes_max));
    }
    std::string text(size, '\0');
    TRY(const std::size_t got, file.read_at(0, std::as_writable_bytes(std::span(text))));
    text.resize(got);
    return text;
}

Result<std::string> read_whole_file_of_unknown_size(const std::string& path, std::size_t bytes_max) {
    TRY(File file, File::open(path, O_RDONLY));
    std::string text(bytes_max, '\0');
    TRY(const std::size_t got, file.read_at(0, std::as_writable_bytes(std::span(text))));
    text.resize(got);
    return text;
}

Result<void> replace_file(const std::string& path, std::string_view bytes) {
    const std::string temporary = fmt::format("{}.{}.new", path, ::getpid());
    {
        TRY(File file, File::open(temporary, O_WRONLY | O_CREAT | O_TRUNC));
        if (auto written = file.write(std::as_bytes(std::span(bytes))); !written.ok()) {
            ::unlink(temporary.c_str());
            return std::move(written).error();
        }
    }
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
        const int error = errno;
        ::unlink(temporary.c_str());
        return Error::from_errno(error, fmt::format("cannot put '{}' in its place", path));
    }
    return {};
}

Result<std::vector<std::string>> list_folder(const std::string& path) {
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
    if (folder == nullptr) {
        return Error::from_errno(errno, fmt::format("cannot list '{}'", path));
    }
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(folder.get())) {
        const std::string name = entry->d_name;
        if (name != "." && name != "..") {
            names.push_back(name);
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace dyetrace::trace
