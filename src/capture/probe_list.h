// What can be watched besides system calls: functions of the kernel, tracepoints, functions and marks of a program, with what is
// known of their values.
//
//   list_probes("vfs_re*", "")           kernel_function('vfs_read'), …    and tracepoints of that name
//   list_probes("*", "postgres")         user_function('postgres', …) and usdt('postgres', …)
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace dyetrace::capture {

struct ListedValue {
    std::string name;  // as a statement says it: "arguments.count", "result"
    std::string type;  // as a programmer writes it; empty: nobody knows
    std::string lack;  // why it cannot be read; empty: it can
};

struct ListedProbe {
    std::string name;  // as a statement says it
    std::vector<ListedValue> values = {};
    std::string lack = {};  // why it cannot be watched; empty: it can
};

struct ProbeList {
    std::vector<ListedProbe> probes;
    std::vector<std::string>
        refused;               // kinds of probes that this kernel lacks, why, and what to use
    std::size_t left_out = 0;  // more than kListedMax are not described
};

inline constexpr std::size_t kListedMax = 10'000;

// kNotFound: no such program. A glob has *, ? and [a-z].
Result<ProbeList> list_probes(const std::string& glob, const std::string& program);

}  // namespace dyetrace::capture
