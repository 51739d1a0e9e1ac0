#include "trace/append_file.h"

#include <fcntl.h>
#include <fmt/format.h>
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

    Result<void> append(std::span<const std::byte> bytes) override {
        return base::write_all(file_, bytes).with_context(fmt::format("writing '{}'", path_));
    }

    Result<void> truncate(std::uint64_t size) override {
        if (::ftruncate(file_.get(), static_cast<off_t>(size)) != 0) {
            return Error::from_errno(errno, fmt::format("shortening '{}'", path_));
        }
        return {};
    }

  private:
    base::Fd file_;
    std::string path_;
};

}  // namespace

Result<std::unique_ptr<AppendFile>> create_append_file(const std::string& path) {
    TRY(base::Fd file, base::open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND));
    return std::unique_ptr<AppendFile>(std::make_unique<DiskAppendFile>(std::move(file), path));
}

}  // namespace dyetrace::trace
