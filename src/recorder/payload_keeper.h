// What --content=bytes keeps, from the rings to the disk: joined with its events, redacted, written.
//
//   drain:  take_payload() ► take_facts() ► take_events() per CPU, pass() if there is a predicate ► write_until(begin of the drain)
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "capture/capture.h"
#include "capture/payload_join.h"
#include "capture/redactor.h"
#include "recorder/recording.h"
#include "trace/payload_file.h"

namespace dyetrace::recorder {

class PayloadKeeper {
  public:
    // Before loading: of each event the kernel has to hand out more than is kept, for the redaction of the last bytes.
    static void prepare(capture::CaptureOptions& listen, const capture::Secrets& secrets);
    static Result<std::unique_ptr<PayloadKeeper>> create(const RecordingOptions& options,
                                                         std::uint32_t cpus);

    PayloadKeeper(const PayloadKeeper&) = delete;  // the redactor's sink knows this
    PayloadKeeper& operator=(const PayloadKeeper&) = delete;

    capture::PayloadSink sink();  // of Capture::drain()
    capture::PayloadJoin& join() { return join_; }

    // What ended before. An Error of the disk: nothing more is written.
    Result<void> write_until(std::uint64_t before_ns);
    Result<void> flush();
    // Nothing more comes of `listened`.
    Result<trace::PayloadTotals> finish(const capture::Capture& listened);

  private:
    // Of each event `bytes_max` are kept; more come for the redaction of the last ones.
    PayloadKeeper(trace::PayloadWriter writer,
                  capture::Secrets secrets,
                  std::uint32_t cpus,
                  std::uint64_t bytes_max,
                  std::uint64_t waiting_bytes_max);
    void write(const capture::Payload& payload);

    capture::PayloadJoin join_;
    trace::PayloadWriter writer_;
    capture::Redactor redactor_;
    std::uint64_t bytes_max_;
    std::uint64_t kept_bytes_ = 0, cut_bytes_ = 0;
    std::optional<Error> failure_;  // of the writer
};

}  // namespace dyetrace::recorder
