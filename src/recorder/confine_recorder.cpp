#include "recorder/confine_recorder.h"

#include <linux/capability.h>

#include "base/confinement.h"

namespace dyetrace::recorder {

void confine_recorder(const base::Log& log, const std::string& writable, bool names_stacks) {
    std::vector<int> kept{CAP_BPF, CAP_PERFMON, CAP_SYS_NICE, CAP_KILL};
    if (names_stacks) {
        kept.insert(kept.end(), {CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH});
    }
    if (!writable.empty() && base::needs_capability_for(writable)) {
        kept.insert(kept.end(), {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH});
    }
    base::FileAccess files{.writable = {}};
    if (!writable.empty()) {
        files.writable.push_back(writable);
    }
    const Result<void> confined =
        base::confine({.kept_capabilities = std::move(kept),
                       .files = std::move(files),
                       .may_use_network = true,  // sockets of `dyetrace dye` and of the agent
                       .may_use_loaded_bpf = true});
    if (!confined.ok()) {
        log.warn("the recorder keeps more rights than it needs: " + confined.error().text());
    }
}

}  // namespace dyetrace::recorder
