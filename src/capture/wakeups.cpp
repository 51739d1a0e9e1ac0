#include "capture/wakeups.h"

#include <cerrno>
#include <cstddef>

#include "capture/libbpf_log.h"
#include "kernel/abi.h"
#include "schema/generated/syscalls.bpf.h"
// the skeleton uses the types above
#include "kernel/dyetrace.skel.h"

namespace dyetrace::capture {
namespace {

// All its records are discarded.
int take_nothing(void* /*context*/, void* /*data*/, std::size_t /*size*/) {
    return 0;
}

}  // namespace

Result<void> Wakeups::open(const dyetrace_bpf& skeleton) {
    fd_ = bpf_map__fd(skeleton.maps.wakeups);
    ring_.reset(ring_buffer__new(fd_, take_nothing, nullptr, nullptr));
    if (!ring_) {
        return LibbpfLog::error(errno);
    }
    return {};
}

}  // namespace dyetrace::capture
