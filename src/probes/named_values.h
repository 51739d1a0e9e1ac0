// All values of one place: what can be read, and what cannot and why.
//
//   values      prev_comm, prev_pid, ...            each with how it is read (probe_value.h)
//   left_out    common_pid: "the kernel keeps ..."  so that nobody looks for it in vain
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "probes/probe_value.h"

namespace dyetrace::probes {

struct LeftOutValue {
    std::string name;
    std::string reason;  // a clause: "it is passed on the stack"

    bool operator==(const LeftOutValue&) const = default;
};

struct NamedValues {
    std::vector<NamedValue> values;
    std::vector<LeftOutValue> left_out;
};

// The value of this name. `of` is what should have it, for the error: "sched:sched_switch has no 'prev_pit', did you mean 'prev_pid'?"
Result<ProbeValue> value_named(const NamedValues& values,
                               const std::string& name,
                               const std::string& of);

}  // namespace dyetrace::probes
