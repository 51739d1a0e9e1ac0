#include "trace/append_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/file.h"

namespace dyetrace::trace {
namespace {

class DiskAppendFile : public AppendFile {
  public:
    DiskAppendFile(base::Fd file, std::string path)
        : file_(std::move(file)), path_(std::move(path)) {}
    DiskAppendFile(const DiskAppendFile&) = delete;
    DiskAppendFile& operator=(const DiskAppendFile&) = delete;
    ~DiskAppendFile() override { give_back_room(); }

    Result<void> append(std::span<const std::byte> bytes) override {
        TRY(keep_room(bytes.size() + kTrailerBytesMax));
        return write(bytes);
    }

    Result<void> append_trailer(std::span<const std::byte> bytes) override { return write(bytes); }

  private:
    // Takes the room before the bytes are there, so that a disk that gets full is noticed while there is room to say so.
    // RLIMIT_FSIZE is looked at here: fallocate() that keeps the size does not look at it.
    Result<void> keep_room(std::uint64_t bytes) {
        rlimit largest{};
        if (::getrlimit(RLIMIT_FSIZE, &largest) == 0 && size_ + bytes > largest.rlim_cur) {
            return Error::from_errno(EFBIG, fmt::format("writing '{}'", path_));
        }
        int done = -1;
        while (promises_room_ && done != 0) {
            done = ::fallocate(file_.get(),
                               FALLOC_FL_KEEP_SIZE,
                               static_cast<off_t>(size_),
                               static_cast<off_t>(bytes));
            if (done != 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) {
                promises_room_ = false;
            } else if (done != 0 && errno != EINTR) {
                return Error::from_errno(errno, fmt::format("writing '{}'", path_));
            }
        }
        return {};
    }

    Result<void> write(std::span<const std::byte> bytes) {
        Result<void> written = base::write_all(file_, bytes);
        if (!written.ok()) {
            give_back_room();
            return std::move(written).with_context(fmt::format("writing '{}'", path_));
        }
        size_ += bytes.size();
        return {};
    }

    // What follows the last whole append().
    void give_back_room() const {
        static_cast<void>(::ftruncate(file_.get(), static_cast<off_t>(size_)) == 0);
    }

    base::Fd file_;
    std::string path_;
    std::uint64_t size_ = 0;
    bool promises_room_ = true;
};

Result<std::unique_ptr<AppendFile>> create(const std::string& path, mode_t mode) {
    TRY(base::Fd file, base::open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, mode));
    return std::unique_ptr<AppendFile>(std::make_unique<DiskAppendFile>(std::move(file), path));
}

}  // namespace

Result<std::unique_ptr<AppendFile>> create_append_file(const std::string& path) {
    return create(path, 0644);
}

Result<std::unique_ptr<AppendFile>> create_private_append_file(const std::string& path) {
    return create(path, 0600);
}

}  // namespace dyetrace::trace
