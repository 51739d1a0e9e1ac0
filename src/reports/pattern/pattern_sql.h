// The questions behind `dyetrace pattern`. A call that takes from one file and gives to another is an access of both.
#pragma once

#include <string>
#include <string_view>

namespace dyetrace::reports {

enum class PatternBy { kAll, kProcess, kThread };

struct PatternSql {
    std::string views;  // gives no rows; the others ask what it made
    std::string files;  // file, size; numbered from 0 in this order
    std::string
        groups;  // access, key, who, processes, threads, files, uncertain; most accesses first
    std::string
        accesses;  // access, key, file, offset, bytes, start_ns, fingerprint; by group, then in the order of time
    std::string mappings;  // one number
    std::string alike;     // paths with the same last component, for who mistyped the first ones
};

// `path`: a path or a glob, as the operator GLOB of SQL understands it.
PatternSql pattern_sql(std::string_view path, PatternBy by);

}  // namespace dyetrace::reports
