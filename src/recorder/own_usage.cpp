#include "recorder/own_usage.h"

#include <sys/resource.h>

namespace dyetrace::recorder {
namespace {

rusage own_usage() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage;
}

std::uint64_t ns_of(const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(time.tv_usec) * 1000u;
}

}  // namespace

std::uint64_t own_cpu_ns() {
    const rusage usage = own_usage();
    return ns_of(usage.ru_utime) + ns_of(usage.ru_stime);
}

std::uint64_t own_memory_bytes() {
    return static_cast<std::uint64_t>(own_usage().ru_maxrss) * 1024u;
}

}  // namespace dyetrace::recorder
