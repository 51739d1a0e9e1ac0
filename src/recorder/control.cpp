#include "recorder/control.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "recorder/listener.h"

namespace dyetrace::recorder {
namespace {

constexpr int kLookMs = 20;  // for a signal

}  // namespace

Result<Control> Control::take(int number) {
    if (number < 0) {
        return Control();
    }
    if (::fcntl(number, F_SETFD, FD_CLOEXEC) != 0) {
        return Error::from_errno(errno, fmt::format("--control-fd {}", number));
    }
    return Control(base::Fd(number));
}

Result<void> Control::await_go(Listener& listener) const {
    if (!held()) {
        return {};
    }
    say("ready\n");
    pollfd waiting{socket_.get(), POLLIN, 0};
    while (::poll(&waiting, 1, kLookMs) <= 0) {
        listener.wait(0);
        if (listener.stopped()) {
            return Error(ErrorCode::kInterrupted, "stopped before it began");
        }
    }
    char word[16] = {};
    if (::recv(socket_.get(), word, sizeof(word) - 1, 0) <= 0 || std::strcmp(word, "go\n") != 0) {
        return Error(ErrorCode::kInterrupted, "the agent went away before the recording began");
    }
    return listener.capture().exclude(::getppid());
}

void Control::say_listening() const {
    if (held()) {
        say("listening\n");
    }
}

// Nobody hears it if the agent died: the recording goes on.
void Control::say(const char* line) const {
    (void)!::send(socket_.get(), line, std::strlen(line), MSG_NOSIGNAL);
}

}  // namespace dyetrace::recorder
