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
#include "capture/row_writer.h"
#include "filter/bpf_grouping.h"
#include "filter/row.h"
#include "probes/probe_value.h"

namespace dyetrace::capture {

// Two probes' rows are one: the values of the one that fires, then those of the one before. Values of both are the same.
struct RowJoin {
    std::vector<std::size_t> own, earlier;  // places in the row, of numbers
};
inline constexpr std::size_t kJoinKeysMax = 8;

struct ProbeMaps {
    int calls = -1;    // hash of kCallKeyBytes and kCallBytes: calls under way
    int earlier = -1;  // LRU hash of 8 bytes for each joined value, and the row: the latest firings
    int counters = -1;  // array of 64-bit numbers per CPU, by ProbeCounter
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
    kAlone,       // firings that none comes before
    kFiltered,    // rows that a condition leaves out
    kCount,
};

struct ProbePrograms {
    std::vector<bpf_insn> fired;    // or returned
    std::vector<bpf_insn> entered;  // empty: it is not needed
};

//   joined
//
//   before fired: its values ─► earlier[what both have]          fired: its values + earlier[…] ─► groups
//
// `columns` are the first ones of the layout, or the last ones: those of the probe before. Without a grouping every row is handed out.
struct ProgramRequest {
    const std::vector<ProbeColumn>& columns;
    const filter::RowLayout& layout;
    const RowJoin& join;
    const ProbeMaps& maps;
    // The columns of the probe before, where it is the same one: one program does both, as the kernel chooses the order of two.
    const std::vector<ProbeColumn>* also_before = nullptr;
    // Which rows are handed out, where none is counted.
    const filter::Expression* where = nullptr;
};
Result<ProbePrograms> write_probe_programs(const ProgramRequest& request,
                                           const filter::BpfGrouping* grouping);

// What the probe before runs.
Result<std::vector<bpf_insn>> write_earlier_program(const ProgramRequest& request);

// Whether it has to be known when a call returns.
bool needs_return(const std::vector<ProbeColumn>& columns);

}  // namespace dyetrace::capture
