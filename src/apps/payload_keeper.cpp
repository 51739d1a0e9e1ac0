#include "apps/payload_keeper.h"

#include <algorithm>
#include <utility>

namespace dyetrace::apps {

PayloadKeeper::PayloadKeeper(trace::PayloadWriter writer,
                             capture::Secrets secrets,
                             std::uint32_t cpus,
                             std::uint64_t bytes_max)
    : join_(cpus),
      writer_(std::move(writer)),
      redactor_(std::move(secrets), [this](const capture::Payload& payload) { write(payload); }),
      bytes_max_(bytes_max) {}

std::uint64_t PayloadKeeper::kernel_bytes_max(std::uint64_t bytes_max,
                                              const capture::Secrets& secrets) {
    const std::uint64_t more = secrets.empty() ? 0 : secrets.match_bytes_max() - 1;
    return bytes_max > UINT64_MAX - more ? UINT64_MAX : bytes_max + more;
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

Result<trace::PayloadTotals> PayloadKeeper::finish(const capture::PayloadBooks& books,
                                                   bool lost_events) {
    TRY(write_until(UINT64_MAX));
    join_.give_up();
    redactor_.finish(!lost_events);
    if (failure_) {
        return *failure_;
    }
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
