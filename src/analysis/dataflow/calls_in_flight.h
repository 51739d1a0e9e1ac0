// Calls on one end of a stream that have begun and not ended. Where two of them overlap in time, which came first is not known.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace dyetrace::analysis {

class CallsInFlight {
  public:
    void starts(std::uint64_t event) {
        for (Call& call : calls_) {
            call.alone = false;
        }
        calls_.push_back({event, calls_.empty()});
    }

    bool empty() const { return calls_.empty(); }

    // Whether no other call overlapped with it. A call whose start was not told took no time.
    bool ends_alone(std::uint64_t event) {
        const auto call = std::find_if(
            calls_.begin(), calls_.end(), [&](const Call& c) { return c.event == event; });
        if (call == calls_.end()) {
            return calls_.empty();
        }
        const bool alone = call->alone;
        calls_.erase(call);
        return alone;
    }

  private:
    struct Call {
        std::uint64_t event;
        bool alone;
    };
    std::vector<Call> calls_;  // no more than there are threads
};

}  // namespace dyetrace::analysis
