// A predicate as a BPF program that drops what certainly is not selected.
//
//   sys_exit builds the event ──► tail call: this program ──► tail call: the program that writes the event
//                                      └─ drops: ends, or tail call
//
// Each condition is TRUE, FALSE, NULL or undecided (the kernel does not know a name yet, the column exists in user space
// only); an event passes if the whole may be TRUE. The Evaluator decides exactly where events are drained. Only the parts of
// a call (part_event) have columns that their parent has not: whoever writes them passes them on when their call was dropped,
// or gives up on them knowingly.
// The code reads nothing of its context but hands it on, so that it loads as any tracing type. Limits: 4,096 instructions;
// FILTER_ATOMS_MAX string conditions, FILTER_TOKENS_MAX elements each.
#pragma once

#include <linux/bpf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "filter/predicate.h"
#include "filter/string_atoms.h"

namespace dyetrace::filter {

struct BpfLayout {
    int scratch_map_fd = -1;       // per-CPU array with one value
    std::size_t event_offset = 0;  // struct syscall_event in that value
    std::size_t input_offset = 0;  // struct filter_input in that value
    int program_array_fd = -1;  // without: the program returns 1 for an event that passes, else 0
    std::optional<std::uint32_t> passed_index = {};   // where to go with an event that passes
    std::optional<std::uint32_t> dropped_index = {};  // or that does not; nothing: ends
    bool task_only = false;        // judge by what is known of the task, whatever the event
    std::uint16_t host_index = 0;  // as the Dictionary's
    std::string host;              // as the Evaluator's
};

struct BpfFilter {
    std::vector<bpf_insn> instructions;
    bool too_large = false;              // it did not fit: the program passes all
    std::vector<std::string> undecided;  // conditions that only the Evaluator decides, as SQL
};

// Adds the string conditions to `atoms`: atom n is about bit n of filter_verdicts.
BpfFilter compile_bpf(const Predicate& predicate, const BpfLayout& layout, StringAtoms& atoms);

}  // namespace dyetrace::filter
