// What the user of `dyetrace trace` asked for, in strace's words.
//
//   TRY(TraceOptions options, parse_trace_options({"-f", "-e", "%file", "-yy", "--", "ls", "-l"}));
//
// Pure: looks at no file, process or terminal. Options of strace that make no sense here (it does not stop anybody) are
// taken and do nothing; those that would change the traced program (inject, fault, -E, -u) are refused.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/call_set.h"
#include "base/result.h"
#include "format/colour.h"
#include "format/line.h"

namespace dyetrace::apps {

// Which results are shown: -e status=…, -z, -Z.
struct StatusSet {
    bool successful = true;
    bool failed = true;
    bool unfinished = true;  // never returned
};

enum class TraceForm : std::uint8_t {
    kLines,           // as strace
    kJson,            // --json: one object per line
    kSummary,         // -c: the table only
    kLinesAndSummary  // -C
};

struct TraceOptions {
    std::vector<std::string> command;     // or
    std::vector<std::int32_t> processes;  // -p
    bool follow = false;                  // -f
    CallSet calls = CallSet::all();       // -e trace=
    StatusSet statuses;
    std::vector<std::string> paths;  // -P, each a path or a glob; empty: all
    std::string output;              // -o; empty: stderr, as strace
    TraceForm form = TraceForm::kLines;
    format::LineStyle style;  // -t -T -y -s; pid, colour and offsets are the caller's
    format::ColourMode colour = format::ColourMode::kAuto;
    bool help = false;
};

// kInvalidArgument says which word and what is possible.
base::Result<TraceOptions> parse_trace_options(const std::vector<std::string>& words);

// An option as --help shows it.
struct TraceOption {
    char letter;             // 0: it has none
    std::string_view name;   // without --; empty: it has none
    std::string_view value;  // empty: it takes none
    std::string_view help;
};

// What parse_trace_options knows, but for those of strace that have no effect.
std::span<const TraceOption> trace_options();

}  // namespace dyetrace::apps
