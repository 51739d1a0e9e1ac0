#include "base/spawn.h"

#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace dyetrace::base {

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

}  // namespace dyetrace::base
