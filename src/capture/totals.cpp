#include "capture/totals.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <cerrno>
#include <tuple>

#include "schema/syscalls.h"

namespace dyetrace::capture {
namespace {

using base::Error;

Total sum_over_cpus(const total_key& key, const std::vector<::total>& cpus) {
    Total total;
    total.pid = key.pid;
    total.syscall = key.syscall;
    total.abi = static_cast<schema::Abi>(key.abi);
    total.event_class = static_cast<schema::Class>(key.event_class);
    total.histogram.resize(TOTAL_BUCKETS);
    for (const ::total& cpu : cpus) {
        total.calls += cpu.calls;
        total.errors += cpu.errors;
        total.would_wait += cpu.would_wait;
        total.bytes += cpu.bytes;
        total.duration_ns += cpu.duration_ns;
        total.off_cpu_ns += cpu.off_cpu_ns;
        total.duration_max_ns = std::max<std::uint64_t>(total.duration_max_ns, cpu.duration_max_ns);
        for (std::uint32_t bucket = 0; bucket < TOTAL_BUCKETS; ++bucket) {
            total.histogram[bucket] += cpu.histogram[bucket];
        }
    }
    if (schema::restores_result(total.abi, total.syscall)) {
        total.errors = total.would_wait = 0;
    }
    return total;
}

}  // namespace

std::uint64_t bucket_end_ns(std::uint32_t bucket) {
    if (bucket < 8) {
        return bucket + 1;  // buckets 0 to 3 are a nanosecond each; 4 to 7 are never used
    }
    const std::uint32_t octave = bucket / 4;
    return (std::uint64_t{4} + bucket % 4 + 1) << (octave - 2);
}

std::uint64_t Total::percentile_ns(double share) const {
    const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(calls));
    std::uint64_t seen = 0;
    for (std::uint32_t bucket = 0; bucket < histogram.size(); ++bucket) {
        seen += histogram[bucket];
        if (seen > wanted || (seen == calls && seen > 0)) {
            return std::min(bucket_end_ns(bucket), duration_max_ns);
        }
    }
    return duration_max_ns;
}

Result<std::vector<Total>> read_totals(int map_fd, std::uint32_t cpus) {
    std::vector<Total> totals;
    std::vector<::total> values(cpus);
    total_key key{}, next{};
    void* previous = nullptr;
    while (bpf_map_get_next_key(map_fd, previous, &next) == 0) {
        key = next;
        previous = &key;
        if (bpf_map_lookup_elem(map_fd, &key, values.data()) == 0) {
            totals.push_back(sum_over_cpus(key, values));
        }
    }
    if (errno != ENOENT) {
        return Error::from_errno(errno, "cannot read the kernel's counters");
    }
    std::sort(totals.begin(), totals.end(), [](const Total& a, const Total& b) {
        return std::tie(a.pid, a.abi, a.syscall, a.event_class) <
               std::tie(b.pid, b.abi, b.syscall, b.event_class);
    });
    return totals;
}

}  // namespace dyetrace::capture
