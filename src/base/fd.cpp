#include "base/fd.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

namespace dyetrace::base {

Fd& Fd::operator=(Fd&& other) noexcept {
    if (this != &other) {
        reset();
        number_ = other.release();
    }
    return *this;
}

int Fd::release() {
    return std::exchange(number_, -1);
}

void Fd::reset() {
    if (valid()) ::close(release());
}

Result<void> Fd::close() {
    if (!valid()) return {};
    // Linux frees the number even when close is interrupted: never try twice.
    if (::close(release()) != 0 && errno != EINTR)
        return Error::from_errno(errno, "closing a file");
    return {};
}

Result<Pipe> make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        return Error::from_errno(errno, "cannot make a pipe");
    }
    return Pipe{Fd(ends[0]), Fd(ends[1])};
}

void hold_standard_descriptors() {
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(number, F_GETFD) == -1) {
            // the lowest free number is this one; reading is for who is written to, and the other way round
            [[maybe_unused]] const int opened =
                ::open("/dev/null", (number == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
        }
    }
}

void allow_all_descriptors() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &limit);
    }
}

}  // namespace dyetrace::base
