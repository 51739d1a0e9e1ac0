// Where an export goes: a file that is there completely or not at all, or standard output.
//
//   TRY(ExportFile file, ExportFile::open("trace.pftrace", ExportFile::Kind::kBinary));
//   TRY(file.write(bytes)); …
//   TRY(file.commit());
//
//   trace.pftrace.new-4711.0  --write-->  --rename-->  trace.pftrace
//
// What is no regular file (a pipe, /dev/null) is written to as it stands. Without commit() nothing is left behind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace dyetrace::reports {

class ExportFile {
  public:
    enum class Kind : std::uint8_t { kText, kBinary };

    // "": standard output. A terminal is given no binary.
    static Result<ExportFile> open(const std::string& path, Kind kind);
    ExportFile(ExportFile&& other) noexcept;
    ExportFile& operator=(ExportFile&&) = delete;
    ~ExportFile();

    Result<void> write(std::string_view bytes);
    Result<void> commit();

    std::uint64_t bytes() const { return bytes_; }

  private:
    ExportFile() = default;

    std::string path_, draft_;  // "": there is none
    base::Fd fd_;
    std::uint64_t bytes_ = 0;
};

}  // namespace dyetrace::reports
