#include "base/log.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "base/harmless.h"
#include "base/text.h"

namespace dyetrace::base {
namespace {

constexpr std::string_view kYellow = "\x1b[33m", kRed = "\x1b[31m", kReset = "\x1b[0m";

}  // namespace

bool wants_color(int fd) {
    const char* no_color = std::getenv("NO_COLOR");
    if (no_color && *no_color) return false;
    const char* terminal = std::getenv("TERM");
    return terminal && std::string_view(terminal) != "dumb" && ::isatty(fd) == 1;
}

Log Log::to_stderr() {
    return Log(STDERR_FILENO, wants_color(STDERR_FILENO));
}

bool Log::is_terminal() const {
    return ::isatty(fd_) == 1;
}

void Log::show(std::string_view message) const {
    std::string text = message.empty() ? "" : "dyetrace: " + make_harmless(message);
    if (winsize size{}; ::ioctl(fd_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        text = truncated(text, size.ws_col - 1);  // of two rows only the last would go
    }
    const std::string line = "\r\x1b[K" + text;
    [[maybe_unused]] const ssize_t written = ::write(fd_, line.data(), line.size());
}

void Log::say(std::string_view message) const {
    write_line({}, {}, message);
}
void Log::warn(std::string_view message) const {
    write_line(kYellow, "warning: ", message);
}
void Log::fail(std::string_view message) const {
    write_line(kRed, "error: ", message);
}

void Log::write_line(std::string_view color,
                     std::string_view severity,
                     std::string_view message) const {
    const bool colored = color_ && !severity.empty();
    const std::string line = fmt::format("dyetrace: {}{}{}{}\n",
                                         colored ? color : "",
                                         severity,
                                         colored ? kReset : "",
                                         make_harmless(message));
    // Nobody is left to be told when this fails.
    [[maybe_unused]] const ssize_t written = ::write(fd_, line.data(), line.size());
}

}  // namespace dyetrace::base
