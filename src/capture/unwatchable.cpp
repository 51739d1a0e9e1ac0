#include "capture/unwatchable.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <string>
#include <string_view>

#include "base/file.h"

namespace dyetrace::capture {
namespace {

constexpr std::size_t kStatusBytesMax = 64 * 1024;  // a task in all groups that it may be in

bool is_there(pid_t process) {
    return process > 0 && (::kill(process, 0) == 0 || errno == EPERM);
}

// The process to which a thread belongs; 0 if that is not known.
pid_t process_of(pid_t thread) {
    constexpr std::string_view kHead = "\nTgid:\t";
    const Result<std::string> status =
        base::read_file(fmt::format("/proc/{}/status", thread), kStatusBytesMax);
    const std::size_t at = status.ok() ? status.value().find(kHead) : std::string::npos;
    pid_t process = 0;
    if (at != std::string::npos) {
        const std::string_view rest = std::string_view(status.value()).substr(at + kHead.size());
        std::from_chars(rest.data(), rest.data() + rest.size(), process);
    }
    return process;
}

}  // namespace

Error unwatchable(pid_t process) {
    if (!is_there(process)) {
        return Error(ErrorCode::kNotFound, fmt::format("there is no process {}", process));
    }
    if (const pid_t whole = process_of(process); whole != 0 && whole != process) {
        return Error(
            ErrorCode::kInvalidArgument,
            fmt::format(
                "{0} is a thread of process {1}: -p {1} watches all its threads", process, whole));
    }
    return Error(ErrorCode::kUnsupported,
                 fmt::format("process {} is there, but this kernel keeps it from BPF programs: it "
                             "cannot be watched",
                             process));
}

}  // namespace dyetrace::capture
