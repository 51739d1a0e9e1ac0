#include "recorder/confine_recorder.h"

#include <linux/capability.h>

#include "base/confinement.h"

namespace dyetrace::recorder {

void confine_recorder(const base::Log& log, const std::string& writable) {
    base::FileAccess files{.writable = {}};
    if (!writable.empty()) {
        files.writable.push_back(writable);
    }
    const Result<void> confined =
        base::confine({.kept_capabilities = {CAP_BPF, CAP_PERFMON, CAP_SYS_NICE, CAP_KILL},
                       .files = std::move(files),
                       .may_use_network = true,  // sockets of `dyetrace dye` and of the agent
                       .may_use_loaded_bpf = true});
    if (!confined.ok()) {
        log.warn("the recorder keeps more rights than it needs: " + confined.error().text());
    }
}

}  // namespace dyetrace::recorder
