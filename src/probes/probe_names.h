// What a person writes to name a place that is watched, on the command line and in SQL.
//
//   kernel_function('vfs_read')                      each call of a function of the kernel
//   tracepoint('sched:sched_switch')                 also tracepoint('sched', 'sched_switch')
//   user_function('postgres', 'exec_simple_query')   a program or library, and a function of it
//   usdt('postgres', 'transaction__start')           also usdt('postgres', 'postgresql', 'transaction__start') with the provider
//   timer('10ms')                                    each 10 ms, once
//   sample(99)                                       99 times a second on every CPU, whatever runs there
//
// Quotes inside quotes are doubled, as in SQL. The name before the parenthesis is read in any case.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dyetrace::probes {

enum class ProbeKind : std::uint8_t {
    kKernelFunction,
    kTracepoint,
    kUserFunction,
    kUsdt,
    kTimer,
    kSample,
};

constexpr std::size_t kProbeNameBytesMax = 8192;  // two paths and a name
// What a timer may be: more often it is a load of its own, longer than a day nobody waits for.
constexpr std::chrono::nanoseconds kTimerMin = std::chrono::milliseconds(1);
constexpr std::chrono::nanoseconds kTimerMax = std::chrono::hours(24);
constexpr unsigned kSampleHzMax = 9999;

// Checked: it has as many arguments as its kind takes. A tracepoint has two, category and name.
struct ProbeName {
    ProbeKind kind = ProbeKind::kKernelFunction;
    std::vector<std::string> arguments;

    bool operator==(const ProbeName&) const = default;
};

Result<ProbeName> parse_probe_name(std::string_view text);
// What parse_probe_name reads as the same.
std::string to_text(const ProbeName& name);

// What a checked name of that kind says.
std::chrono::nanoseconds timer_period(const ProbeName& name);
unsigned sample_hz(const ProbeName& name);

}  // namespace dyetrace::probes
