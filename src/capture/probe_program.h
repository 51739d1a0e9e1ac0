// Writes the programs of a probe: what a question wants to know of one firing is put in a row on the stack (filter/row.h), and
// the row is counted there.
//
//   a function with its result or its duration            anything else
//
//   entered:   arguments ─► calls[thread, stack pointer]   fired:  the row ─► groups
//   returned:  calls[…] ─► the row, + result, duration ─► groups
//
// A row that the kernel cannot count (no room for another group, a condition it does not know) is handed out as it is.
// Limits: kRowBytesMax; a call that was entered before the probe is not known when it returns.
#pragma once

#include <linux/bpf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/capture.h"
#include "filter/bpf_grouping.h"
#include "filter/row.h"
#include "probes/probe_value.h"

namespace dyetrace::capture {

// What a column of a row is made of.
enum class RowSource : std::uint8_t {
    kValue,  // an argument, a field of the context, the result
    kPid,
    kTid,
    kUid,
    kGid,
    kComm,
    kCpu,
    kCgroup,
    kDuration,
    kPlace,  // the number of the place that the probe is attached to
    kKernelStack,
    kUserStack,
};

struct ProbeColumn {
    filter::RowColumn row;
    RowSource source = RowSource::kValue;
    probes::ProbeValue value = {};  // of kValue
    bool operator==(const ProbeColumn&) const = default;
};

struct ProbeMaps {
    int calls = -1;     // hash of kCallKeyBytes and kCallBytes: calls under way
    int counters = -1;  // array of 64-bit numbers, by ProbeCounter
    int rows = -1;      // ring buffer for rows that are handed out
    int stacks = -1;    // stack traces
    WatchedTasks watched;
    filter::BpfGroupTargets groups;
};

inline constexpr std::uint32_t kCallKeyBytes = 16;
inline constexpr std::uint32_t kCallBytes = 8 + filter::kRowBytesMax;

enum class ProbeCounter : std::uint32_t {
    kHandedOut,   // rows that user space counts
    kLost,        // rows for which the ring had no room
    kNotKept,     // calls that found no room in `calls`
    kNotEntered,  // returns of calls that are not there
    kCount,
};

struct ProbePrograms {
    std::vector<bpf_insn> fired;    // or returned
    std::vector<bpf_insn> entered;  // empty: it is not needed
};

// The columns have the layout's order. Without a grouping every row is handed out.
Result<ProbePrograms> write_probe_programs(const std::vector<ProbeColumn>& columns,
                                           const filter::RowLayout& layout,
                                           const filter::BpfGrouping* grouping,
                                           const ProbeMaps& maps);

// Whether it has to be known when a call returns.
bool needs_return(const std::vector<ProbeColumn>& columns);

}  // namespace dyetrace::capture
