// LD_PRELOAD of this makes a process whose wall clock is wrong by $WRONG_CLOCK_S seconds. Its other clocks are right.
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

#include <cstdlib>

namespace {

time_t wrong_by() {
    const char* const seconds = std::getenv("WRONG_CLOCK_S");
    return seconds == nullptr ? 0 : std::atol(seconds);
}

template <typename Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* now) {
    static const auto kRight = real<int(clockid_t, timespec*)>("clock_gettime");
    const int result = kRight(clock, now);
    if (result == 0 && clock == CLOCK_REALTIME) {
        now->tv_sec += wrong_by();
    }
    return result;
}

extern "C" int gettimeofday(timeval* now, void* zone) {
    static const auto kRight = real<int(timeval*, void*)>("gettimeofday");
    const int result = kRight(now, zone);
    now->tv_sec += wrong_by();
    return result;
}

extern "C" time_t time(time_t* into) {
    static const auto kRight = real<time_t(time_t*)>("time");
    const time_t now = kRight(nullptr) + wrong_by();
    if (into != nullptr) {
        *into = now;
    }
    return now;
}
