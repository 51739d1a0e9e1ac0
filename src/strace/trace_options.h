// What the user of `dyetrace trace` asked for, in strace's words.
//
//   TRY(TraceOptions options, parse_trace_options({"-f", "-e", "%file", "-yy", "--", "ls", "-l"}));
//
// Pure: looks at no file, process or terminal. No word is taken without effect: what would change the traced program
// (inject, fault, -E, -u) or cannot be told without stopping it is refused, and an option that another one makes void is
// said in `notes`.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/call_summary.h"
#include "format/colour.h"
#include "format/line.h"
#include "strace/call_set.h"

namespace dyetrace::strace {

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

// -e read=, -e write=
struct DescriptorSet {
    std::vector<std::int32_t> listed;
    bool others = false;  // ! in front: those that are not listed

    bool empty() const { return listed.empty() && !others; }
    bool has(std::int32_t descriptor) const {
        return (std::find(listed.begin(), listed.end(), descriptor) != listed.end()) != others;
    }
};

using SignalSet = std::bitset<65>;  // by number; 0 is none

struct TraceOptions {
    std::vector<std::string> command;     // or
    std::vector<std::int32_t> processes;  // -p
    bool follow = false;                  // -f: other threads and children too
    CallSet calls = CallSet::all();       // -e trace=
    StatusSet statuses;
    std::vector<std::string> paths;  // -P, each a path or a glob; empty: all
    std::string output;       // -o; empty: stderr, as strace; |COMMAND or !COMMAND: into that
    bool append = false;      // -A
    bool separately = false;  // -ff: a file per thread
    TraceForm form = TraceForm::kLines;
    format::LineStyle style;  // -t -T -y -s …; pid, colour and offsets are the caller's
    format::CallOrder summary_order = format::CallOrder::kTime;  // -S
    bool wall_clock = false;                                     // -w: -c counts waiting too
    bool ends = true;                                            // +++ lines; off with -qq
    SignalSet signals = SignalSet().set();  // whose lines, `killed by` too, are shown
    CallSet raw = CallSet::none();          // -e raw=
    CallSet abbreviated = CallSet::all();   // -e abbrev=, -v
    CallSet verbose = CallSet::all();       // -e verbose=
    DescriptorSet dump_reads;               // -e read=
    DescriptorSet dump_writes;              // -e write=
    format::ColourMode colour = format::ColourMode::kAuto;
    bool help = false;
    bool version = false;            // -V
    std::vector<std::string> notes;  // what was asked for in vain
};

// kInvalidArgument says which word and what is possible.
base::Result<TraceOptions> parse_trace_options(const std::vector<std::string>& arguments);

// An option as --help shows it.
struct TraceOption {
    char letter;            // 0: it has none
    std::string_view name;  // without --; empty: it has none
    std::string_view
        value;  // empty: it takes none; "[=WHAT]": the name may have one, the letter has none
    std::string_view help;  // empty: of strace, refused
};

// All that parse_trace_options knows, those that it refuses too.
std::vector<TraceOption> trace_options();

}  // namespace dyetrace::strace
