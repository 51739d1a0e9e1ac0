#include "base/result.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace dyetrace::base {
namespace {

ErrorCode code_for_errno(int error_number) {
    switch (error_number) {
        case EINVAL:
        case ENAMETOOLONG:
        case ENOTDIR:
        case EISDIR:
            return ErrorCode::kInvalidArgument;
        case ENOENT:
        case ESRCH:
        case ENODEV:
        case ENXIO:
            return ErrorCode::kNotFound;
        case EEXIST:
        case ENOTEMPTY:
            return ErrorCode::kAlreadyExists;
        case EACCES:
        case EPERM:
        case EROFS:
            return ErrorCode::kPermissionDenied;
        case ENOSYS:
        case EOPNOTSUPP:
        case EPROTONOSUPPORT:
            return ErrorCode::kUnsupported;
        case ENOSPC:
        case EDQUOT:
        case EMFILE:
        case ENFILE:
        case ENOMEM:
        case E2BIG:
        case EFBIG:
            return ErrorCode::kLimitReached;
        case EAGAIN:
        case EBUSY:
        case ETIMEDOUT:
        case ECONNREFUSED:
        case ECONNRESET:
        case EPIPE:
        case EHOSTUNREACH:
        case ENETUNREACH:
            return ErrorCode::kUnavailable;
        case EINTR:
        case ECANCELED:
            return ErrorCode::kInterrupted;
        default:
            return ErrorCode::kIo;
    }
}

}  // namespace

std::string_view name_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::kInvalidArgument:
            return "invalid_argument";
        case ErrorCode::kNotFound:
            return "not_found";
        case ErrorCode::kAlreadyExists:
            return "already_exists";
        case ErrorCode::kPermissionDenied:
            return "permission_denied";
        case ErrorCode::kUnsupported:
            return "unsupported";
        case ErrorCode::kCorrupt:
            return "corrupt";
        case ErrorCode::kLimitReached:
            return "limit_reached";
        case ErrorCode::kOutOfMemory:
            return "out_of_memory";
        case ErrorCode::kUnavailable:
            return "unavailable";
        case ErrorCode::kInterrupted:
            return "interrupted";
        case ErrorCode::kIo:
            return "io";
    }
    CHECK(false, "no such ErrorCode");
}

Error Error::from_errno(int error_number, std::string_view message) {
    const char* name = strerrorname_np(error_number);
    const char* description = strerrordesc_np(error_number);
    return Error(
        code_for_errno(error_number),
        fmt::format("{}: {} ({}){}",
                    message,
                    description ? description : "unknown error",
                    name ? name : std::to_string(error_number),
                    error_number == EFBIG ? ": `ulimit -f` or the file system allows no larger file"
                    : error_number == EMFILE ? ": `ulimit -n` allows no more open files"
                                             : ""));
}

Error Error::with_context(std::string message) && {
    Error outer(code_, std::move(message));
    outer.cause_.push_back(std::move(*this));
    return outer;
}

Error Error::with_context(std::string message) const& {
    return Error(*this).with_context(std::move(message));
}

std::string Error::text() const {
    std::string text = message_;
    for (const Error* below = cause(); below; below = below->cause())
        text += ": " + below->message_;
    return text;
}

}  // namespace dyetrace::base
