#include "capture/unseen.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "schema/generated/syscalls.bpf.h"
#include "schema/syscalls.h"
// the skeleton uses the types above
#include "kernel/dyetrace.skel.h"

namespace dyetrace::capture {

std::uint64_t times_left_out(const bpf_program* program) {
    bpf_prog_info info{};
    std::uint32_t size = sizeof(info);
    const int descriptor = bpf_program__fd(program);
    return descriptor >= 0 && bpf_obj_get_info_by_fd(descriptor, &info, &size) == 0
               ? info.recursion_misses
               : 0;
}

void mark_segments(dyetrace_bpf& skeleton) {
    const auto ways = schema::unseen_bytes();
    const auto group = std::find_if(ways.begin(), ways.end(), [](const schema::UnseenBytes& way) {
        return way.name == "shared memory of System V";
    });
    CHECK(group != ways.end());
    skeleton.bss->unseen_groups[group - ways.begin() + 1] = 1;
}

void add_unseen(const dyetrace_bpf& skeleton, std::vector<Source>& sources) {
    if (const std::uint64_t left_out = times_left_out(skeleton.progs.sys_exit); left_out > 0) {
        sources.push_back(
            {"calls",
             schema::CoverageState::kPartial,
             fmt::format("{} are missing: this kernel lets a task that has the CPU be put aside in "
                         "the middle of a BPF program, and runs none for others meanwhile",
                         left_out)});
    }
    if (skeleton.bss->links_unread > 0) {
        sources.push_back({"symbolic links",
                           schema::CoverageState::kPartial,
                           fmt::format("{} times a path was not followed to its object: what a "
                                       "link on the way says was not at hand",
                                       skeleton.bss->links_unread)});
    }
    const auto ways = schema::unseen_bytes();
    static_assert(sizeof(skeleton.bss->unseen_groups) == UNSEEN_GROUPS + 1);
    for (std::size_t i = 0; i < ways.size(); ++i) {
        if (skeleton.bss->unseen_groups[i + 1] != 0) {
            sources.push_back({std::string(ways[i].name),
                               schema::CoverageState::kPartial,
                               std::string(ways[i].reason)});
        }
    }
}

}  // namespace dyetrace::capture
