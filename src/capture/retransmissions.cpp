#include "capture/retransmissions.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "capture/map_array.h"
#include "capture/unseen.h"
#include "kernel/abi.h"
#include "schema/generated/syscalls.bpf.h"
// the skeleton uses the types above
#include "kernel/dyetrace.skel.h"

namespace dyetrace::capture {
namespace {

constexpr const char* kSource = "retransmissions";
constexpr const char* kLack = "what TCP sends again is not recorded";

}  // namespace

void Retransmissions::prepare(dyetrace_bpf& skeleton,
                              const CaptureOptions& options,
                              const KernelSupport& support,
                              std::uint32_t cpus) {
    is_asked_ = options.watch_retransmissions;
    const bool is_watched = is_asked_ && support.tcp_retransmit_skb;
    skeleton.rodata->watch_retransmissions = is_watched;
    skeleton.rodata->retransmission_tells_error = support.retransmission_tells_error;
    bpf_program__set_autoload(skeleton.progs.retransmitted, is_watched);
    bpf_map__set_max_entries(skeleton.maps.interrupt_rings, cpus);
}

Result<void> Retransmissions::map(const dyetrace_bpf& skeleton,
                                  ring_control* controls,
                                  std::uint32_t cpus) {
    TRY(memory_, map_array(skeleton.maps.interrupt_rings));
    for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
        constexpr std::uint64_t kSize = INTERRUPT_RING_BYTES + RECORD_BYTES_MAX;
        rings_.emplace_back(memory_.bytes().subspan(cpu * kSize, kSize),
                            INTERRUPT_RING_BYTES,
                            &controls[cpu * STREAMS + STREAM_INTERRUPTS]);
    }
    return {};
}

std::optional<Source> Retransmissions::attach(dyetrace_bpf& skeleton, bool hides_process) const {
    using schema::CoverageState;
    if (!is_asked_) {
        return std::nullopt;
    }
    if (!bpf_program__autoload(skeleton.progs.retransmitted)) {
        return Source{kSource,
                      CoverageState::kOff,
                      fmt::format("this kernel has no tracepoint tcp_retransmit_skb; {}", kLack)};
    }
    skeleton.links.retransmitted = bpf_program__attach(skeleton.progs.retransmitted);
    if (skeleton.links.retransmitted == nullptr) {
        const base::Error error =
            base::Error::from_errno(errno, "cannot attach tcp_retransmit_skb");
        return Source{kSource, CoverageState::kRefused, fmt::format("{}; {}", error.text(), kLack)};
    }
    if (hides_process) {
        return Source{kSource,
                      CoverageState::kPartial,
                      "not while process 1 has the CPU: this kernel keeps it from BPF programs"};
    }
    return Source{kSource, CoverageState::kOn, ""};
}

std::optional<Source> Retransmissions::finish(const dyetrace_bpf& skeleton) {
    const std::uint64_t left_out = times_left_out(skeleton.progs.retransmitted);
    if (left_out == 0) {
        return std::nullopt;
    }
    return Source{
        kSource,
        schema::CoverageState::kPartial,
        fmt::format("{} came in the middle of another one, of whatever socket", left_out)};
}

Accounting Retransmissions::accounting(std::uint32_t cpu) const {
    const ring_control& control = rings_[cpu].control();
    const std::uint64_t delivered = read_counter(control.delivered);
    const std::uint64_t lost = read_counter(control.lost);
    return {.generated = delivered + lost,
            .delivered = delivered,
            .lost = lost,
            .retransmissions = delivered,
            .last_lost_ns = read_counter(control.last_lost_ns)};
}

void Retransmissions::look() {
    ends_.clear();
    for (const Ring& ring : rings_) {
        ends_.push_back(ring.head());
    }
}

std::uint64_t Retransmissions::drain(std::uint64_t& damaged_bytes) {
    drained_.clear();
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < rings_.size(); ++i) {
        bytes += rings_[i].drain(
            ends_[i],
            [&](schema::RecordBytes records) {
                while (!records.empty()) {
                    const schema::RecordBytes record = schema::first_record(records);
                    if (const auto* sent = schema::as<schema::Retransmission>(record)) {
                        drained_.push_back(*sent);
                    }
                    records = records.subspan(record.empty() ? records.size() : record.size());
                }
            },
            damaged_bytes);
    }
    return bytes;
}

}  // namespace dyetrace::capture
