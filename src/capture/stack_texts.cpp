#include "capture/stack_texts.h"

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/clock.h"
#include "base/file.h"

namespace dyetrace::capture {
namespace {

constexpr std::int64_t kLookNs = 50'000'000;

std::string program_of(pid_t pid) {
    char path[PATH_MAX];
    const ssize_t length = ::readlink(fmt::format("/proc/{}/exe", pid).c_str(), path, sizeof(path));
    return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "";
}

// All frames but the innermost are where calls return to, which is after them.
template <typename NameOf>
std::string folded(const std::vector<std::uint64_t>& frames, NameOf&& name_of) {
    std::string text = frames.size() == kStackFramesMax ? "…" : "";
    for (std::size_t i = frames.size(); i-- > 0;) {
        text += (text.empty() ? "" : ";") + name_of(frames[i] - (i == 0 ? 0 : 1));
    }
    return text;
}

}  // namespace

std::vector<std::uint64_t> StackTexts::frames_of(std::uint32_t id) const {
    std::vector<std::uint64_t> frames(kStackFramesMax);
    if (bpf_map_lookup_elem(map_fd_, &id, frames.data()) != 0) {
        return {};
    }
    frames.erase(std::find(frames.begin(), frames.end(), 0), frames.end());
    return frames;
}

void StackTexts::read_kernel_names() {
    if (!kernel_) {
        auto names = probes::KernelNames::read();
        kernel_.emplace(names.ok() ? std::move(names).value() : probes::KernelNames());
    }
}

void StackTexts::look() {
    const std::int64_t now = base::monotonic_time_ns();
    if (now - looked_ns_ < kLookNs) {
        return;
    }
    looked_ns_ = now;
    const auto names = base::list_folder("/proc");
    if (!names.ok()) {
        return;
    }
    for (const std::string& name : names.value()) {
        pid_t pid = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (error == std::errc() && end == name.data() + name.size()) {
            look_at(pid);
        }
    }
}

void StackTexts::look_at(pid_t pid) {
    std::string program = program_of(pid);
    if (program.empty()) {
        return;  // a thread of the kernel, or it has ended
    }
    std::string& known = seen_[pid];
    if (known != program && processes_.remember(pid)) {
        known = std::move(program);
    }
}

std::optional<std::string> StackTexts::of_kernel(std::uint32_t id) {
    const std::vector<std::uint64_t> frames = frames_of(id);
    if (frames.empty()) {
        return std::nullopt;
    }
    read_kernel_names();
    return folded(frames, [&](std::uint64_t address) { return kernel_->name_of(address); });
}

std::optional<std::string> StackTexts::of_process(pid_t pid, std::uint32_t id) {
    const std::vector<std::uint64_t> frames = frames_of(id);
    if (frames.empty()) {
        return std::nullopt;
    }
    look_at(pid);
    return folded(frames, [&](std::uint64_t address) { return processes_.name_of(pid, address); });
}

}  // namespace dyetrace::capture
