// Ways in which recorded calls moved bytes, or made order, that no event tells (src/schema/moves.toml), for the table `coverage`.
#pragma once

#include <vector>

#include "capture/capture.h"

struct dyetrace_bpf;

namespace dyetrace::capture {

// A row for each, when the recording has ended.
void add_unseen(const dyetrace_bpf& skeleton, std::vector<Source>& sources);

}  // namespace dyetrace::capture
