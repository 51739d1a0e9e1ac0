#include "recorder/payload_keeper.h"

#include <sys/prctl.h>

#include <algorithm>
#include <utility>

namespace dyetrace::recorder {
namespace {

constexpr std::uint64_t kPayloadRingPerRing =
    4;  // an event has some 100 bytes, what it moved often thousands

constexpr std::uint64_t kDrainsWaited = 2;  // with --only-dyed an event comes with the next one

}  // namespace

PayloadKeeper::PayloadKeeper(trace::PayloadWriter writer,
                             capture::Secrets secrets,
                             std::uint32_t cpus,
                             std::uint64_t bytes_max,
                             std::uint64_t waiting_bytes_max)
    : join_(cpus, waiting_bytes_max),
      writer_(std::move(writer)),
      redactor_(std::move(secrets), [this](const capture::Payload& payload) { write(payload); }),
      bytes_max_(bytes_max) {}

void PayloadKeeper::prepare(capture::CaptureOptions& listen, const capture::Secrets& secrets) {
    const std::uint64_t wanted = listen.payload_bytes_max;
    const bool is_kept = listen.content == schema::ContentLevel::kBytes;
    const std::uint64_t more = is_kept && !secrets.empty() ? secrets.match_bytes_max() - 1 : 0;
    listen.payload_bytes_max = wanted > UINT64_MAX - more ? UINT64_MAX : wanted + more;
    listen.payload_ring_bytes = kPayloadRingPerRing * listen.event_ring_bytes;
}

Result<std::unique_ptr<PayloadKeeper>> PayloadKeeper::create(const RecordingOptions& options,
                                                             std::uint32_t cpus) {
    TRY(trace::PayloadWriter file, trace::PayloadWriter::create(options.trace_path));
    ::prctl(PR_SET_DUMPABLE,
            0);  // no core file has what is to be redacted; a command's own is as ever
    return std::unique_ptr<PayloadKeeper>(
        new PayloadKeeper(std::move(file),
                          options.secrets,
                          cpus,
                          options.capture.payload_bytes_max,
                          kDrainsWaited * kPayloadRingPerRing * options.capture.event_ring_bytes));
}

capture::PayloadSink PayloadKeeper::sink() {
    return {.pieces = [this](auto cpu, auto pieces) { join_.take_payload(cpu, pieces); },
            .decided = [this](auto cpu, auto sequence) { join_.pass(cpu, sequence); }};
}

void PayloadKeeper::write(const capture::Payload& payload) {
    if (failure_) {
        return;
    }
    const std::size_t size = payload.bytes.size();
    const std::uint64_t wanted = payload.position < bytes_max_
                                     ? std::min<std::uint64_t>(size, bytes_max_ - payload.position)
                                     : 0;
    cut_bytes_ += size - wanted;
    for (std::uint64_t at = 0; at < wanted && !failure_;) {
        const std::uint64_t now =
            std::min<std::uint64_t>(wanted - at, trace::kPayloadEntryBytesMax);
        Result<void> added = writer_.add(payload.cpu,
                                         payload.sequence,
                                         payload.position + at,
                                         std::span(payload.bytes).subspan(at, now));
        if (!added.ok()) {
            failure_ = std::move(added).error();
        }
        at += now;
    }
    kept_bytes_ += failure_ ? 0 : wanted;
}

Result<void> PayloadKeeper::write_until(std::uint64_t before_ns) {
    join_.release(before_ns,
                  [this](capture::Payload payload) { redactor_.take(std::move(payload)); });
    return failure_ ? Result<void>(*failure_) : Result<void>();
}

Result<void> PayloadKeeper::flush() {
    return failure_ ? Result<void>(*failure_) : writer_.flush();
}

Result<trace::PayloadTotals> PayloadKeeper::finish(const capture::Capture& listened) {
    TRY(write_until(UINT64_MAX));
    join_.give_up();
    redactor_.finish();
    if (failure_) {
        return *failure_;
    }
    const capture::PayloadAccounting accounting = listened.payload_accounting();
    trace::PayloadTotals totals;
    totals.generated = accounting.generated;
    totals.kept = kept_bytes_;
    totals.lost = accounting.lost + join_.lost_bytes();
    totals.left_out = join_.left_out_bytes() + cut_bytes_;
    totals.redacted = redactor_.redacted_bytes();
    TRY(writer_.close(totals));
    return totals;
}

}  // namespace dyetrace::recorder
