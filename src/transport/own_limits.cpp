#include "transport/own_limits.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <charconv>

#include "base/file.h"
#include "base/text.h"

namespace dyetrace::transport {
namespace {

constexpr std::int64_t kSayEveryNs = 60'000'000'000;
constexpr std::int64_t kWeighMemoryEveryNs = 1'000'000'000;
constexpr std::size_t kStatmBytesMax = 256;
constexpr double kNsPerPercent = 1e7;  // of a second

double own_cpu_ns() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto ns = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_usec) * 1e3;
    };
    return ns(usage.ru_utime) + ns(usage.ru_stime);
}

// The second number of statm: pages in memory. 0 if it is gone.
std::uint64_t memory_of(pid_t process) {
    const auto text = base::read_file(fmt::format("/proc/{}/statm", process), kStatmBytesMax);
    const std::size_t blank = text.ok() ? text.value().find(' ') : std::string::npos;
    std::uint64_t pages = 0;
    if (blank != std::string::npos) {
        const char* const end = text.value().data() + text.value().size();
        std::from_chars(text.value().data() + blank + 1, end, pages);
    }
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

OwnLimits::OwnLimits(const LimitOptions& options)
    : options_(options),
      bandwidth_(static_cast<double>(options.bandwidth_bytes_max)),
      cpu_(options.cpu_percent_max * kNsPerPercent),
      cpu_seen_ns_(own_cpu_ns()) {}

bool OwnLimits::may_ship(std::int64_t now_ns) {
    const double used_ns = own_cpu_ns();
    cpu_.take(used_ns - cpu_seen_ns_);
    cpu_seen_ns_ = used_ns;
    if (!cpu_.has_some(now_ns)) {
        binding_ = fmt::format("--cpu-max {}", options_.cpu_percent_max);
        return false;
    }
    if (!bandwidth_.has_some(now_ns)) {
        binding_ =
            fmt::format("--bandwidth-max {}/s", base::bytes_text(options_.bandwidth_bytes_max));
        return false;
    }
    binding_.clear();
    return true;
}

std::optional<std::string> OwnLimits::news(std::int64_t now_ns) {
    if (binding_.empty() || (said_ns_ != 0 && now_ns - said_ns_ < kSayEveryNs)) {
        return std::nullopt;
    }
    said_ns_ = now_ns;
    return binding_ + " holds shipping back: the rest waits in the spool";
}

std::optional<std::uint64_t> OwnLimits::too_much_memory(std::int64_t now_ns,
                                                        const std::vector<pid_t>& recorders) {
    if (options_.memory_bytes_max == 0 || now_ns - weighed_ns_ < kWeighMemoryEveryNs) {
        return std::nullopt;
    }
    weighed_ns_ = now_ns;
    std::uint64_t bytes = memory_of(::getpid());
    for (const pid_t recorder : recorders) {
        bytes += memory_of(recorder);
    }
    return bytes > options_.memory_bytes_max ? std::optional(bytes) : std::nullopt;
}

}  // namespace dyetrace::transport
