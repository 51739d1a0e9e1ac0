#include "transport/recorder_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "base/file.h"
#include "trace/trace_folder.h"

namespace dyetrace::transport {
namespace {

constexpr int kControlInChild = 3;
constexpr std::size_t kHeardBytesMax = 64;  // two short lines

std::vector<std::string> command_of(const RecorderOrder& order) {
    std::vector<std::string> command = {"dyetrace",
                                        "record",
                                        "--output",
                                        order.trace,
                                        "--no-seal",
                                        "--control-fd",
                                        std::to_string(kControlInChild),
                                        "--host-index",
                                        std::to_string(order.host_index),
                                        "--host-name",
                                        order.host,
                                        "--segment-records",
                                        std::to_string(order.segment_records)};
    command.insert(command.end(), order.arguments.begin(), order.arguments.end());
    return command;
}

// A session of its own: what ends the agent's terminal or service does not end it.
Result<pid_t> spawn(const RecorderOrder& order, int control) {
    std::vector<std::string> command = command_of(order);
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (std::string& argument : command) {
        arguments.push_back(argument.data());
    }
    arguments.push_back(nullptr);
    posix_spawnattr_t how;
    posix_spawn_file_actions_t files;
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_init(&how);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(
        &files, 2, order.said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 2, 1);
    posix_spawn_file_actions_adddup2(&files, control, kControlInChild);
    pid_t pid = -1;
    const int error =
        posix_spawn(&pid, order.program.c_str(), &files, &how, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    if (error != 0) {
        return Error::from_errno(error, fmt::format("cannot start '{}'", order.program));
    }
    return pid;
}

base::Fd process_descriptor(pid_t process) {
    return base::Fd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

}  // namespace

Result<std::unique_ptr<Recorder>> RecorderProcess::start(const RecorderOrder& order) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return Error::from_errno(errno, "cannot make a socket for the recorder");
    }
    std::unique_ptr<RecorderProcess> recorder(new RecorderProcess(order.trace));
    recorder->control_ = base::Fd(ends[0]);
    base::Fd theirs(ends[1]);
    if (theirs.get() == kControlInChild) {  // dup2 onto itself would leave it closed on exec
        theirs = base::Fd(::fcntl(theirs.get(), F_DUPFD_CLOEXEC, kControlInChild + 1));
    }
    TRY(recorder->pid_, spawn(order, theirs.get()));
    recorder->is_child_ = true;
    recorder->process_ = process_descriptor(recorder->pid_);
    return std::unique_ptr<Recorder>(std::move(recorder));
}

std::unique_ptr<Recorder> RecorderProcess::adopt(const std::string& trace) {
    std::unique_ptr<RecorderProcess> recorder(new RecorderProcess(trace));
    recorder->state_ = State::kListening;
    if (const auto folder = trace::TraceFolder::open(trace); folder.ok()) {
        recorder->pid_ = static_cast<pid_t>(folder.value().info().recorder_pid);
        recorder->process_ = process_descriptor(recorder->pid_);
    }
    // asked after the descriptor was opened: if its recorder lives now, the number was and is its own
    if (recorder->has_ended()) {
        recorder->state_ = State::kEnded;
    }
    return recorder;
}

bool RecorderProcess::has_ended() {
    if (is_child_) {
        return ::waitpid(pid_, nullptr, WNOHANG) != 0;
    }
    auto folder = trace::TraceFolder::open(trace_);
    if (!folder.ok()) {
        return true;
    }
    const auto state = folder.value().current_state();
    return !state.ok() || state.value() != trace::TraceState::kRecording;
}

RecorderProcess::State RecorderProcess::look() {
    if (state_ == State::kEnded) {
        return state_;
    }
    if (control_.valid()) {
        hear();
    }
    if (has_ended()) {
        state_ = State::kEnded;
    }
    return state_;
}

void RecorderProcess::hear() {
    char bytes[kHeardBytesMax];
    const ssize_t size = ::recv(control_.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
    if (size > 0 && heard_.size() < kHeardBytesMax) {
        heard_.append(bytes, static_cast<std::size_t>(size));
    }
    if (heard_.ends_with("listening\n")) {
        state_ = State::kListening;
    } else if (heard_ == "ready\n") {
        state_ = State::kReady;
    }
}

Result<void> RecorderProcess::go() {
    constexpr std::string_view kGo = "go\n";
    if (::send(control_.get(), kGo.data(), kGo.size(), MSG_NOSIGNAL) < 0) {
        return Error::from_errno(errno, "the recorder does not listen");
    }
    return {};
}

void RecorderProcess::stop() {
    if (process_.valid() && state_ != State::kEnded) {
        ::syscall(SYS_pidfd_send_signal, process_.get(), SIGINT, nullptr, 0);
    }
}

}  // namespace dyetrace::transport
