// Finds what a question names: the places of a probe on this machine, and how each value that it asks for is read there.
//
//   TRY(const Probe probe, find_probe({.fires = {"tracepoint('sched', 'sched_switch')", "", {"comm", "arguments.prev_comm"}}}));
//
//   pid tid uid gid comm cpu cgroup_id     who, and where
//   time_ns                                when it fired, or returned: nanoseconds since the machine began, as events' start_ns
//   duration_ns result                     of functions, when they return
//   function                               the name of the place
//   kernel_stack user_stack                folded: the outermost frame first, with semicolons
//   arguments.NAME                         by name and type; text is its first 63 bytes
//   arguments.argN                         of a function of which no types are known: what the register holds, from 0
//   str(arguments.NAME)                    the text that a number points to; NULL where the process has not touched its page yet
//   user_str(arguments.NAME)               the same of a kernel function's argument that points into the process
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "capture/kernel_probe.h"
#include "filter/predicate.h"
#include "filter/probe_question.h"

namespace dyetrace::capture {

// kNotFound, kInvalidArgument: there is no such place or value, with what is near; kUnsupported: not on this kernel.
Result<Probe> find_probe(const filter::ProbeQuestion& question);

// A probe each firing of which becomes an event: who and when, and all arguments that a row has room for.
struct RecordedProbe {
    Probe probe;
    filter::Predicate where;             // over its row
    std::vector<std::string> arguments;  // the last columns of its row, by name
    std::vector<std::string> left_out;   // arguments that are not in it, and why
};
struct RecordedStacks {
    bool of_kernel = false, of_user = false;
};

// The columns before the arguments, as far as it has them, by their names and in this order.
inline constexpr std::string_view kRecordedContext = "_context";
inline constexpr std::string_view kRecordedThread = "_thread";
inline constexpr std::string_view kRecordedThreadStart = "_thread_start";
inline constexpr std::string_view kRecordedProcessStart = "_process_start";

// The same errors; `text` is the probe alone, or with a condition over what its events have: "kernel_function('vfs_read') WHERE duration_ns > 1000000".
Result<RecordedProbe> find_recorded_probe(const std::string& text, RecordedStacks stacks);
// Whether they are written as such, whether there are such probes or not.
Result<void> check_recorded_probes(const std::vector<std::string>& texts);

}  // namespace dyetrace::capture
