#include "base/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace dyetrace::base {
namespace {

int null_device = -1;  // a signal's handler is given nothing else
pid_t first_parent = 0;

void let_go(int) {
    const int before = errno;
    for (int number = STDIN_FILENO; ::getppid() != first_parent && number <= STDERR_FILENO;
         ++number) {
        ::dup2(null_device, number);
    }
    errno = before;
}

}  // namespace

Result<pid_t> spawn_in_background(const std::string& program,
                                  std::vector<std::string> words,
                                  const std::vector<ChildDescriptor>& descriptors) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    int last = STDERR_FILENO;
    for (const ChildDescriptor& descriptor : descriptors) {
        posix_spawn_file_actions_adddup2(&files, descriptor.ours, descriptor.theirs);
        last = std::max(last, descriptor.theirs);
    }
    // close-on-exec comes after posix_spawn() has returned: a child that gets no CPU then would go on holding this program's locks
    posix_spawn_file_actions_addclosefrom_np(&files, last + 1);
    posix_spawnattr_t how;
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setpgroup(&how, 0);
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    pid_t child = -1;
    const int error = posix_spawn(&child, program.c_str(), &files, &how, arguments.data(), environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) {
        return Error::from_errno(error, fmt::format("cannot start '{}'", program));
    }
    return child;
}

void let_go_when_alone() {
    null_device = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    first_parent = ::getppid();
    struct sigaction action {};
    action.sa_handler = &let_go;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGUSR1, &action, nullptr);
    ::prctl(PR_SET_PDEATHSIG, SIGUSR1);  // also when a thread of it ends
}

}  // namespace dyetrace::base
