#include "apps/store/export_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <string>

#include "base/text.h"

namespace dyetrace::apps {
namespace {

constexpr std::chrono::milliseconds kShowEvery{500};
constexpr std::chrono::seconds kQuietFor{1};  // whatever is done by then needs no progress

void draw(int fd, const std::string& text) {
    [[maybe_unused]] const auto done = ::write(fd, text.data(), text.size());
}

}  // namespace

ExportProgress::ExportProgress(int fd) : fd_(fd) {
    if (::isatty(fd) == 1) {
        shower_ = std::jthread([this](const std::stop_token& stop) { show(stop); });
    }
}

ExportProgress::~ExportProgress() = default;

void ExportProgress::show(const std::stop_token& stop) const {
    std::mutex mutex;  // nobody else has it: the condition wants one
    std::condition_variable_any woken;
    std::unique_lock lock(mutex);
    bool is_shown = false;
    std::chrono::milliseconds wait = kQuietFor;
    while (!woken.wait_for(lock, stop, wait, [&] { return stop.stop_requested(); })) {
        if (stop.stop_requested()) {
            break;
        }
        const std::uint64_t bytes = bytes_;
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(
                                 std::chrono::steady_clock::now() - begun_)
                                 .count();
        draw(fd_,
             fmt::format("\r\x1b[Kdyetrace: {} · {} s",
                         bytes == 0 ? "reading the trace" : base::bytes_text(bytes) + " written",
                         seconds));
        is_shown = true;
        wait = kShowEvery;
    }
    if (is_shown) {
        draw(fd_, "\r\x1b[K");
    }
}

}  // namespace dyetrace::apps
