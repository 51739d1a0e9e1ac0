#include "recorder/child.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/fd.h"
#include "base/file.h"
#include "base/log.h"

namespace dyetrace::recorder {
namespace {

using base::Fd;
constexpr int kNotFound = 127;  // exit status of a shell for a command that is not there
constexpr int kNotRunnable = 126;
constexpr int kGateLookUs = 200;
constexpr int kGateWaitMaxUs = 30'000'000;  // on a machine that is busy beyond measure
constexpr std::size_t kStatBytesMax = 4096;

bool is_program(const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode) &&
           access(path.c_str(), X_OK) == 0;
}

// Looks for it as execvp does, but before the recording: its misses are not the command's, and a
// command that is not there leaves no trace behind.
Result<std::string> find_program(const std::string& name) {
    const char* path = std::getenv("PATH");
    if (name.find('/') != std::string::npos || path == nullptr) {
        if (is_program(name)) {
            return name;
        }
        return Error(ErrorCode::kNotFound, fmt::format("'{}' is no program that can be run", name));
    }
    std::string_view rest = path;
    while (true) {
        const std::size_t colon = rest.find(':');
        const std::string folder(rest.substr(0, colon));
        std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
        if (is_program(candidate)) {
            return candidate;
        }
        if (colon == std::string_view::npos) {
            return Error(ErrorCode::kNotFound,
                         fmt::format("there is no program '{}' in PATH", name));
        }
        rest.remove_prefix(colon + 1);
    }
}

// Nothing between the gate and execve may make a system call: it would be the first thing in the trace.
[[noreturn]] void become(
    const std::string& program, char** arguments, int gate, int report, const sigset_t* mask) {
    sigprocmask(SIG_SETMASK, mask, nullptr);
    char go = 0;
    if (read(gate, &go, 1) != 1) {
        _exit(kNotFound);  // the recorder gave up
    }
    execve(program.c_str(), arguments, environ);
    const int error = errno;
    (void)!write(report, &error, sizeof(error));
    _exit(error == ENOENT ? kNotFound : kNotRunnable);
}

// What the child does on its way to the gate is not the command's either. Only there it sleeps.
bool sleeps(pid_t pid) {
    const Result<std::string> stat =
        base::read_file(fmt::format("/proc/{}/stat", pid), kStatBytesMax);
    const std::size_t name_end = stat.ok() ? stat.value().rfind(") ") : std::string::npos;
    return name_end != std::string::npos && stat.value().substr(name_end, 3) == ") S";
}

Result<void> await_gate(pid_t pid) {
    for (int waited_us = 0; waited_us < kGateWaitMaxUs; waited_us += kGateLookUs) {
        if (sleeps(pid)) {
            return {};
        }
        usleep(kGateLookUs);
    }
    return Error(ErrorCode::kUnavailable, "the process for the command does not get to run");
}

}  // namespace

Result<Child> Child::start(const std::vector<std::string>& command) {
    TRY(const std::string program, find_program(command.front()));
    TRY(base::Pipe gate, base::make_pipe());
    TRY(base::Pipe report, base::make_pipe());
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const std::string& word : command) {
        arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    // nothing may arrive between fork and the child's own mask
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    Child child;
    child.pid_ = fork();
    const int error = errno;
    if (child.pid_ == 0) {
        gate.write.reset();  // or a recorder that gives up would not be noticed
        become(program, arguments.data(), gate.read.get(), report.write.get(), &before);
    }
    sigprocmask(SIG_SETMASK, &before, nullptr);
    if (child.pid_ < 0) {
        return Error::from_errno(error, "cannot start a process");
    }
    child.gate_ = std::move(gate.write);
    child.report_ = std::move(report.read);
    TRY(await_gate(child.pid_));
    return child;
}

Result<void> Child::release() {
    const char go = 1;
    if (write(gate_.get(), &go, 1) != 1) {
        return Error::from_errno(errno, "cannot let the command go");
    }
    gate_.reset();
    int error = 0;
    ssize_t got = 0;
    do {
        got = read(report_.get(), &error, sizeof(error));
    } while (got < 0 && errno == EINTR);
    report_.reset();
    if (got == sizeof(error)) {
        base::Log::to_stderr().fail(Error::from_errno(error, "cannot run the command"));
    }
    return {};
}

void Child::signal(int number) const {
    if (!status_) {
        kill(pid_, number);
    }
}

std::optional<int> Child::poll() {
    int status = 0;
    if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_) {
        status_ = status;
    }
    return status_;
}

int status_of_failed_start(const std::vector<std::string>& command) {
    if (command.empty() || find_program(command.front()).ok()) {
        return 1;
    }
    const bool is_path = command.front().find('/') != std::string::npos;
    return is_path && access(command.front().c_str(), F_OK) == 0 ? kNotRunnable : kNotFound;
}

int pass_on(int wait_status) {
    if (!WIFSIGNALED(wait_status)) {
        return WEXITSTATUS(wait_status);
    }
    const int number = WTERMSIG(wait_status);
    const rlimit no_core{0, 0};  // the command has left its own
    setrlimit(RLIMIT_CORE, &no_core);
    ::signal(number, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    raise(number);
    return 128 + number;
}

}  // namespace dyetrace::recorder
