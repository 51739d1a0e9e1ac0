#include "reports/export/export_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "base/file.h"
#include "base/harmless.h"

namespace dyetrace::reports {

Result<ExportFile> ExportFile::open(const std::string& path, Kind kind) {
    ExportFile file;
    file.path_ = path;
    if (path.empty()) {
        if (kind == Kind::kBinary && ::isatty(STDOUT_FILENO) == 1) {
            return Error(ErrorCode::kUnsupported,
                         "that is nothing for a terminal: say -o FILE, or send it to a program");
        }
        file.fd_ = base::Fd(::dup(STDOUT_FILENO));
        return file;
    }
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        TRY(file.fd_, base::open_file(path, O_WRONLY));
        return file;
    }
    const std::string draft = base::begin_draft(path);
    TRY(file.fd_, base::create_draft(draft, base::kPrivateFile));
    file.draft_ = draft;
    return file;
}

ExportFile::ExportFile(ExportFile&& other) noexcept
    : path_(std::move(other.path_)),
      draft_(std::exchange(other.draft_, {})),
      fd_(std::move(other.fd_)),
      bytes_(other.bytes_) {}

ExportFile::~ExportFile() {
    if (!draft_.empty()) {
        ::unlink(draft_.c_str());
    }
}

Result<void> ExportFile::write(std::string_view bytes) {
    bytes_ += bytes.size();
    if (path_.empty() && ::isatty(fd_.get()) == 1) {
        return base::write_all(fd_, base::bytes_of(base::make_lines_harmless(bytes)))
            .with_context("cannot write the output");
    }
    return base::write_all(fd_, base::bytes_of(bytes))
        .with_context(path_.empty() ? "cannot write the output" : fmt::format("'{}'", path_));
}

Result<void> ExportFile::commit() {
    TRY(fd_.close().with_context(path_.empty() ? "cannot write the output"
                                               : fmt::format("'{}'", path_)));
    if (!draft_.empty()) {
        TRY(base::rename_file(draft_, path_));
        draft_.clear();
    }
    return {};
}

}  // namespace dyetrace::reports
