// What --content=bytes keeps, from the rings to the disk: joined with its events, redacted, written.
//
//   drain:  take_payload() ► take_facts() ► take_events() and pass() per CPU ► write_until(begin of the drain)
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "capture/capture.h"
#include "capture/payload_join.h"
#include "capture/redactor.h"
#include "trace/payload_file.h"

namespace dyetrace::apps {

class PayloadKeeper {
  public:
    // Of each event `bytes_max` are kept; more have to come for the redaction of the last ones (kernel_bytes_max).
    PayloadKeeper(trace::PayloadWriter writer,
                  capture::Secrets secrets,
                  std::uint32_t cpus,
                  std::uint64_t bytes_max);
    static std::uint64_t kernel_bytes_max(std::uint64_t bytes_max, const capture::Secrets& secrets);

    PayloadKeeper(const PayloadKeeper&) = delete;  // the redactor's sink knows this
    PayloadKeeper& operator=(const PayloadKeeper&) = delete;

    capture::PayloadJoin& join() { return join_; }

    // What ended before. An Error of the disk: nothing more is written.
    Result<void> write_until(std::uint64_t before_ns);
    Result<void> flush();
    // Nothing more comes; `books` are the kernel's. `lost_events`: some were.
    Result<trace::PayloadTotals> finish(const capture::PayloadBooks& books, bool lost_events);

  private:
    void write(const capture::Payload& payload);

    capture::PayloadJoin join_;
    trace::PayloadWriter writer_;
    capture::Redactor redactor_;
    std::uint64_t bytes_max_;
    std::uint64_t kept_bytes_ = 0, cut_bytes_ = 0;
    std::optional<Error> failure_;  // of the writer
};

}  // namespace dyetrace::apps
