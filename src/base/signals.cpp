#include "base/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

namespace dyetrace::base {

Fd take_signals(std::initializer_list<int> numbers) {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : numbers) {
        sigaddset(&set, number);
    }
    sigprocmask(SIG_BLOCK, &set, nullptr);
    return Fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

Fd take_ending_signals() {
    std::signal(SIGPIPE, SIG_IGN);
    return take_signals({SIGINT, SIGTERM});
}

bool was_asked_to_end(const Fd& signals) {
    signalfd_siginfo info{};
    return read(signals.get(), &info, sizeof(info)) == sizeof(info);
}

void outlive_file_size_limit() {
    struct sigaction action {};
    if (sigaction(SIGXFSZ, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) {
        action.sa_handler = [](int) {};  // which execve takes away; what is ignored it would leave
        sigaction(SIGXFSZ, &action, nullptr);
    }
}

}  // namespace dyetrace::base
