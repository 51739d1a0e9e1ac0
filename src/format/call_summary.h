// strace -c: calls of each kind counted, timed and added up.
//
//   % time     seconds  usecs/call     calls    errors syscall
//   ------ ----------- ----------- --------- --------- ----------------
//    61.22    0.000030          10         3         1 openat
//   ------ ----------- ----------- --------- --------- ----------------
//   100.00    0.000049           6         8         1 total
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dyetrace::format {

struct CallTotal {
    std::string name;
    std::uint64_t calls = 0;
    std::uint64_t errors = 0;
    std::uint64_t total_ns = 0;
};

// How the rows are sorted; equal ones stand by calls, then by name.
enum class CallOrder : std::uint8_t { kTime, kAverage, kCalls, kErrors, kName };

class CallSummary {
  public:
    void add(std::string_view name, bool failed, std::uint64_t ns);
    void add(const CallTotal& total);

    // Biggest first, names rising.
    std::vector<CallTotal> sorted(CallOrder order = CallOrder::kTime) const;
    std::string text(CallOrder order = CallOrder::kTime) const;

  private:
    CallTotal& total_of(std::string_view name);

    std::vector<CallTotal>
        totals_;  // by rising name; a few hundred at most: there are no more calls
};

}  // namespace dyetrace::format
