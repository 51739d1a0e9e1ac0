#include "capture/content.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "base/fd.h"
#include "base/mapping.h"
#include "capture/grace_period.h"
#include "capture/iterator.h"
#include "capture/program_table.h"
#include "content/keyed.h"
#include "kernel/abi.h"
#include "schema/generated/syscalls.bpf.h"
// the skeleton uses the types above
#include "kernel/dyetrace.skel.h"

namespace dyetrace::capture {
namespace {

using base::Error;

constexpr const char* kContent = "content";
constexpr const char* kPages = "content of sendfile, splice, copy_file_range";
constexpr const char* kDeferred = "content that is not in memory";
constexpr const char* kPipes = "content of splice and tee between pipes and sockets";

// Lets find_page_base of src/kernel/programs/pages.bpf.c look for a page of random bytes.
Result<void> find_page_base(dyetrace_bpf& skeleton) {
    std::array<std::uint64_t, PAGE_BYTES / sizeof(std::uint64_t)> words{};
    const base::Fd file(memfd_create("dyetrace", MFD_CLOEXEC));
    if (!file.valid() || getrandom(words.data(), PAGE_BYTES, 0) != PAGE_BYTES ||
        write(file.get(), words.data(), PAGE_BYTES) != PAGE_BYTES) {
        return Error::from_errno(errno, "cannot make a file in memory");
    }
    auto& samples = skeleton.bss->sample_words;
    for (std::size_t i = 0; i < std::size(samples); ++i) {
        samples[i] = words[i * words.size() / std::size(samples)];
    }
    skeleton.bss->sample_fd = static_cast<__u32>(file.get());
    return run_iterator(skeleton.progs.find_page_base, {.process = getpid()});
}

// Two traces with the same words can be compared. A key is named by what it makes of a number that is no fingerprint's.
Source how_content_is_looked_at(const CaptureOptions& options) {
    std::string how = "fingerprints of whole operations";
    if (options.content >= schema::ContentLevel::kAnchors) {
        how = fmt::format("fingerprints, sketches and an anchor about every {} bytes",
                          options.anchor_distance);
    }
    if (options.content_key) {
        const auto& half = options.content_key->half;
        const auto mark = static_cast<std::uint32_t>(keyed(UINT64_MAX, half[0], half[1]));
        how += fmt::format(", with the key of the mark {:08x}", mark);
    }
    return {kContent, schema::CoverageState::kOn, std::move(how)};
}

// The kernel takes only one of the two programs, so only one is loaded.
bpf_program* content_writer(const dyetrace_bpf& skeleton) {
    return skeleton.rodata->can_defer ? skeleton.progs.write_with_content
                                      : skeleton.progs.write_with_resident_content;
}

}  // namespace

content::AnchorRule anchor_rule(const CaptureOptions& options) {
    return content::AnchorRule(options.anchor_distance, options.content_key);
}

Result<void> choose_content(dyetrace_bpf& skeleton,
                            const CaptureOptions& options,
                            const KernelSupport& support,
                            std::uint32_t cpus) {
    const bool looks = options.content != schema::ContentLevel::kNone || options.look_for_dyes;
    if (looks && !support.loop) {
        return Error(base::ErrorCode::kUnsupported,
                     "this kernel's BPF programs cannot look at the bytes of calls (they have no "
                     "bpf_loop, of Linux 5.17): record without --content and dyes");
    }
    const auto key = options.content_key.value_or(content::ContentKey{});
    skeleton.rodata->content_level = static_cast<std::uint32_t>(options.content);
    skeleton.rodata->content_keyed = options.content_key.has_value();
    std::ranges::copy(key.half, skeleton.rodata->content_key);
    if (options.content >= schema::ContentLevel::kAnchors) {
        const content::AnchorRule rule = anchor_rule(options);
        std::ranges::transform(
            rule.gear(), skeleton.rodata->anchor_gear, [](std::uint64_t one) { return one << 32; });
        skeleton.rodata->anchor_threshold = std::uint64_t{rule.threshold()} << 32;
        bpf_map__set_max_entries(skeleton.maps.anchor_lists, cpus * ANCHORS_LISTED_MAX);
    }
    bpf_program__set_autoload(skeleton.progs.write_with_content, false);
    bpf_program__set_autoload(skeleton.progs.write_with_resident_content, false);
    bpf_program__set_autoload(content_writer(skeleton), looks);
    // also for links (kernel/helpers/link.bpf.c)
    bpf_program__set_autoload(skeleton.progs.find_page_base, support.loop);
    bpf_program__set_autoload(skeleton.progs.find_shared_memory, looks);
    bpf_map__set_max_entries(skeleton.maps.content_buffers, looks ? cpus : 1);
    bpf_map__set_max_entries(skeleton.maps.deferred_calls, looks ? DEFERRED_MAX : 1);
    return {};
}

Result<std::vector<Source>> prepare_content(dyetrace_bpf& skeleton, const CaptureOptions& options) {
    std::vector<Source> limits;
    std::string lack = "where this kernel keeps the bytes of a page was not found";
    if (bpf_program__autoload(skeleton.progs.find_page_base)) {
        if (const auto searched = find_page_base(skeleton); !searched.ok()) {
            lack = searched.error().text();
        }
    }
    bpf_program* writer = content_writer(skeleton);
    if (!bpf_program__autoload(writer)) {
        return limits;
    }
    if (options.content != schema::ContentLevel::kNone) {
        limits.push_back(how_content_is_looked_at(options));
    }
    TRY(put_program(skeleton.maps.exit_programs, PROGRAM_WRITE_CONTENT, writer));
    if (skeleton.bss->page_base_known) {
        limits.push_back({kPages,
                          schema::CoverageState::kOn,
                          "what of the file is in memory when the call ends; the rest is unread"});
    } else {
        limits.push_back({kPages, schema::CoverageState::kOff, "all of it is unread: " + lack});
    }
    if (skeleton.rodata->can_defer) {
        limits.push_back({kDeferred,
                          schema::CoverageState::kOn,
                          "read when the call is over, before its program goes on"});
    } else {
        limits.push_back({kDeferred,
                          schema::CoverageState::kOff,
                          "all of it is unread: this needs task work for programs, of Linux 6.18"});
    }
    limits.push_back({kPipes,
                      schema::CoverageState::kOff,
                      "all of it is unread: the bytes are in no file and in no program's memory"});
    return limits;
}

std::uint64_t finish_deferred_calls(dyetrace_bpf& skeleton) {
    if (!bpf_program__autoload(skeleton.progs.write_with_content)) {
        return 0;  // nothing was, and a grace period takes 15 ms
    }
    constexpr auto kWait = std::chrono::seconds(1);
    const std::atomic_ref waiting(skeleton.bss->calls_deferred);
    const auto end = std::chrono::steady_clock::now() + kWait;
    while (waiting.load() > 0 && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    skeleton.bss->nobody_waits = true;
    wait_for_running_programs();
    return static_cast<std::uint64_t>(waiting.load());
}

}  // namespace dyetrace::capture
