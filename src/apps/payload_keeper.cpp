#include "apps/payload_keeper.h"

#include <algorithm>
#include <utility>

namespace dyetrace::apps {
namespace {

constexpr std::uint64_t kPayloadRingPerRing =
    4;  // an event has some 100 bytes, what it moved often thousands

std::uint64_t lost_events(const capture::Capture& listened) {
    std::uint64_t lost = 0;
    for (std::uint32_t cpu = 0; cpu < listened.cpu_count(); ++cpu) {
        lost += listened.books(cpu).lost;
    }
    return lost;
}

}  // namespace

PayloadKeeper::PayloadKeeper(trace::PayloadWriter writer,
                             capture::Secrets secrets,
                             std::uint32_t cpus,
                             std::uint64_t bytes_max)
    : join_(cpus),
      writer_(std::move(writer)),
      redactor_(std::move(secrets), [this](const capture::Payload& payload) { write(payload); }),
      bytes_max_(bytes_max) {}

void PayloadKeeper::prepare(capture::CaptureOptions& listen, const RecordingOptions& options) {
    const std::uint64_t wanted = options.payload_bytes_max;
    const std::uint64_t more = options.secrets.empty() ? 0 : options.secrets.match_bytes_max() - 1;
    listen.payload_bytes_max = wanted > UINT64_MAX - more ? UINT64_MAX : wanted + more;
    listen.payload_ring_bytes = kPayloadRingPerRing * options.ring_bytes;
}

Result<std::unique_ptr<PayloadKeeper>> PayloadKeeper::create(const RecordingOptions& options,
                                                             std::uint32_t cpus) {
    TRY(trace::PayloadWriter file, trace::PayloadWriter::create(options.trace_path));
    return std::unique_ptr<PayloadKeeper>(
        new PayloadKeeper(std::move(file), options.secrets, cpus, options.payload_bytes_max));
}

capture::PayloadSink PayloadKeeper::sink() {
    return [this](std::uint32_t cpu, std::span<const std::byte> pieces) {
        join_.take_payload(cpu, pieces);
    };
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
    if (wanted == 0) {
        return;
    }
    Result<void> added = writer_.add(
        payload.cpu, payload.sequence, payload.position, std::span(payload.bytes).first(wanted));
    if (added.ok()) {
        kept_bytes_ += wanted;
    } else {
        failure_ = std::move(added).error();
    }
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
    redactor_.finish(lost_events(listened) == 0);
    if (failure_) {
        return *failure_;
    }
    const capture::PayloadBooks books = listened.payload_books();
    trace::PayloadTotals totals;
    totals.generated = books.generated;
    totals.kept = kept_bytes_;
    totals.lost = books.lost;
    totals.left_out = join_.left_out_bytes() + cut_bytes_;
    totals.withheld = redactor_.withheld_bytes();
    totals.redacted = redactor_.redacted_bytes();
    TRY(writer_.close(totals));
    return totals;
}

}  // namespace dyetrace::apps
