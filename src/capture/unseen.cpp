#include "capture/unseen.h"

#include <bpf/libbpf.h>

#include <string>

#include "schema/generated/syscalls.bpf.h"
#include "schema/syscalls.h"
// the skeleton uses the types above
#include "kernel/dyetrace.skel.h"

namespace dyetrace::capture {

void add_unseen(const dyetrace_bpf& skeleton, std::vector<Source>& sources) {
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
