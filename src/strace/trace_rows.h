// The options of `dyetrace trace`: one row each, with how it is given, what --help says and what it does.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "strace/trace_options.h"

namespace dyetrace::strace {

// What the arguments say together once all of them were read.
struct CommandLine {
    TraceOptions options;
    int times = 0;    // -t
    int names = 0;    // -y
    int quiets = 0;   // -q
    int follows = 0;  // -f
    int hex = 0;      // -x
    bool summary_only = false;
    bool summary = false;
    bool json = false;
    std::vector<std::string> of_lines;  // given, and void where only the table is shown
};

using Action = base::Result<void> (*)(CommandLine&, std::string_view value);

// An option that is taken does something; those of strace that cannot are refused.
struct Row {
    TraceOption option;
    Action action;                  // nullptr: refused
    bool also_in_e = false;         // -e NAME=VALUE is --NAME=VALUE
    bool of_lines = false;          // says how lines look: void with -c
    std::string_view refusal = {};  // end of a sentence that begins with the option
};

std::span<const Row> trace_rows();
const Row* row_of(char letter);            // nullptr if there is none
const Row* row_of(std::string_view name);  // without --

// `spelling` is how the user gave the option.
base::Result<void> act(CommandLine& line,
                       const Row& row,
                       const std::string& spelling,
                       std::string_view value);

}  // namespace dyetrace::strace
