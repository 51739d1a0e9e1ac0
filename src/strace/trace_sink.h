// Where the lines of `dyetrace trace` go: stderr or stdout, a file, a file per thread, or into a command.
//
//   TRY(TraceSink sink, TraceSink::open({.output = "log", .separately = true}, STDERR_FILENO));
//   sink.write(4711, "getpid() = 4711\n");      log.4711
//
// After a failure (a closed pipe, a full disk) nothing more is written. Limits: a file per thread is open only while it is
// written to, so that any number of threads needs one descriptor.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/fd.h"
#include "base/result.h"

namespace dyetrace::strace {

struct SinkOptions {
    std::string
        output;  // empty: the file descriptor that is given; |COMMAND and !COMMAND: into a shell
    bool append = false;      // else what is in a file is replaced
    bool separately = false;  // OUTPUT.TID
};

class TraceSink {
  public:
    // A command starts at once, and is waited for when the sink goes.
    static base::Result<TraceSink> open(const SinkOptions& options, int otherwise);

    // `tid` matters only if threads are separate.
    void write(std::uint32_t tid, std::string_view text);

    int fd() const { return fd_; }  // -1 if threads are separate
    // Nothing more is written. A reader that went away is no error.
    bool failed() const { return failed_; }
    const std::optional<base::Error>& error() const { return error_; }

  private:
    void write_to(int fd, std::string_view text);

    struct Close {
        void operator()(std::FILE* pipe) const;
    };

    SinkOptions options_;
    std::unique_ptr<std::FILE, Close> command_;
    base::Fd file_;
    int fd_ = -1;
    bool failed_ = false;
    std::optional<base::Error> error_;
    std::unordered_set<std::uint32_t> begun_;  // threads whose file is this run's
};

}  // namespace dyetrace::strace
