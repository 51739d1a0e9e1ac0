// Ways in which recorded calls moved bytes, or made order, that no event tells (src/schema/moves.toml), for the table `coverage`.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/capture.h"

struct bpf_program;
struct dyetrace_bpf;

namespace dyetrace::capture {

// How often the kernel left a program out because it was in the middle of the same one on that CPU (bpf_prog_info.recursion_misses).
std::uint64_t times_left_out(const bpf_program* program);

// Segments of System V were attached before the recording, so that no call tells of them.
void mark_segments(dyetrace_bpf& skeleton);

// A row for each, and for calls that were left out, when the recording has ended.
void add_unseen(const dyetrace_bpf& skeleton, std::vector<Source>& sources);

}  // namespace dyetrace::capture
