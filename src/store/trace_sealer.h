// Seals a trace of any number of hosts, one after the other.
//
//   TRY(TraceSealer sealer, TraceSealer::start("fleet.trace"));
//   TRY(const trace::TraceState state, sealer.seal_what_is_there(may_seal));      kRecording: come again
//
// While the trace of many hosts has not ended, none of its parts has: their collector may carry on
// where it died.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "store/seal.h"
#include "trace/trace_folder.h"

namespace dyetrace::store {

class TraceSealer {
  public:
    // kUnavailable if another one works on it.
    static Result<TraceSealer> start(const std::string& path);

    // The state of the whole trace, of which each part is looked at after that.
    Result<trace::TraceState> seal_what_is_there(const Sealer::MaySeal& may_seal);

    SealedSegment totals() const;

  private:
    explicit TraceSealer(trace::TraceFolder folder) : folder_(std::move(folder)) {}

    Result<void> find_parts();

    trace::TraceFolder folder_;
    std::map<std::string, Sealer> parts_;  // by path
};

}  // namespace dyetrace::store
