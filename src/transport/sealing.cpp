#include "transport/sealing.h"

#include <sched.h>
#include <sys/wait.h>

#include "base/spawn.h"

namespace dyetrace::transport {
namespace {

constexpr sched_param kNoParameters{};

}  // namespace

void Sealing::follow(const std::string& path) {
    tick();
    if (followers_.contains(path)) {
        return;
    }
    const auto child =
        base::spawn_in_background(program_, {"dyetrace", "seal", "--follow", "--quiet", path});
    if (child.ok()) {  // without one the segments are read as they are
        ::sched_setscheduler(child.value(), SCHED_IDLE, &kNoParameters);
        followers_.emplace(path, child.value());
    }
}

void Sealing::tick() {
    std::erase_if(followers_, [](const auto& follower) {
        return ::waitpid(follower.second, nullptr, WNOHANG) != 0;
    });
}

}  // namespace dyetrace::transport
