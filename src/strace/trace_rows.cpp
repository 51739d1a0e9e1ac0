#include "strace/trace_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "strace/option_values.h"

namespace dyetrace::strace {
namespace {

using base::Result;

Result<void> take_expression(CommandLine& line, std::string_view expression);

Result<void> take_absolute_times(CommandLine& line, std::string_view list) {
    return for_each_word(list.empty() ? "time" : list, [&](std::string_view word) -> Result<void> {
        format::LineStyle& style = line.options.style;
        word.remove_prefix(word.starts_with("format:")      ? 7
                           : word.starts_with("precision:") ? 10
                                                            : 0);
        if (word == "none" || word == "time" || word == "unix") {
            style.time = word == "none"   ? format::TimeStyle::kNone
                         : word == "unix" ? format::TimeStyle::kUnix
                                          : format::TimeStyle::kClock;
            return {};
        }
        TRY(style.time_digits, parse_precision(word));
        return {};
    });
}

Result<void> take_names(CommandLine& line, std::string_view list) {
    line.names = 0;
    static constexpr NamedValue<int> kValues[] = {
        {"none", 0}, {"path", 1}, {"socket", 2}, {"all", 2}};
    return for_each_word(list.empty() ? "path" : list, [&](std::string_view word) -> Result<void> {
        TRY(const int names, choose(word, "detail of descriptors", kValues));
        line.names = std::max(line.names, names);
        return {};
    });
}

Result<void> take_quiet(CommandLine& line, std::string_view list) {
    static constexpr NamedValue<bool> kValues[] = {{"attach", false},
                                                   {"exit", true},
                                                   {"exits", true},
                                                   {"path-resolution", false},
                                                   {"path-resolve", false},
                                                   {"personality", false},
                                                   {"thread-execve", false},
                                                   {"none", false},
                                                   {"all", true}};
    return for_each_word(
        list.empty() ? "attach" : list, [&](std::string_view word) -> Result<void> {
            TRY(const bool ends, choose(word, "message that can be left out", kValues));
            line.options.ends = line.options.ends && !ends;
            return {};
        });
}

Result<void> take_pid_words(CommandLine& line, std::string_view list) {
    format::PidStyle& pids = line.options.style.pids;
    pids.names = pids.translation = false;
    static constexpr NamedValue<int> kValues[] = {
        {"none", 0}, {"comm", 1}, {"pidns", 2}, {"all", 3}};
    return for_each_word(list, [&](std::string_view word) -> Result<void> {
        TRY(const int chosen, choose(word, "value of --decode-pids", kValues));
        pids.names = pids.names || (chosen & 1) != 0;
        pids.translation = pids.translation || (chosen & 2) != 0;
        return {};
    });
}

Result<void> take_constant_style(CommandLine& line, std::string_view value) {
    using format::Constants;
    static constexpr NamedValue<Constants> kValues[] = {
        {"abbrev", Constants::kNames}, {"raw", Constants::kNumbers}, {"verbose", Constants::kBoth}};
    TRY(line.options.style.limits.constants, choose(value, "style of constants", kValues));
    return {};
}

// Ends of sentences that begin with the option.
constexpr std::string_view kChanges =
    "would need to stop or change the program; dyetrace only watches";
constexpr std::string_view kTable = "would change the columns of the table; dyetrace cannot";
constexpr std::string_view kNoOverhead =
    "is of no use: the kernel measures, nothing has to be subtracted";
constexpr std::string_view kNoTracer = "is of no use: no program or signal waits for dyetrace";

constexpr Row refused(char letter,
                      std::string_view name,
                      std::string_view value,
                      std::string_view reason,
                      bool also_in_e = false) {
    return {{letter, name, value, ""}, nullptr, also_in_e, false, reason};
}

constexpr bool kAlsoInE = true;
constexpr bool kOfLines = true;

const Row kRows[] = {
    {{'e',
      "",
      "EXPR",
      "NAME=VALUE is --NAME=VALUE for trace, status, signal, raw, abbrev, verbose, quiet, "
      "decode-fds, decode-pids, read, write; CALLS alone is "
      "--trace=CALLS"},
     take_expression},
    {{0,
      "trace",
      "CALLS",
      "Only these calls: names, groups (%file %network %desc %memory %process %signal %ipc %creds "
      "%clock %stat), /regex; all but these: !CALLS"},
     [](CommandLine& line, std::string_view value) -> Result<void> {
         TRY(line.options.calls, CallSet::parse(value));
         return {};
     },
     kAlsoInE},
    {{0, "status", "SET", "Only calls that ended so: successful, failed, unfinished"},
     [](CommandLine& line, std::string_view value) -> Result<void> {
         TRY(line.options.statuses, parse_statuses(value));
         return {};
     },
     kAlsoInE},
    {{'z', "successful-only", "", "Only calls that succeeded"},
     [](CommandLine& line, std::string_view) -> Result<void> {
         line.options.statuses = {.successful = true, .failed = false, .unfinished = false};
         return {};
     }},
    {{'Z', "failed-only", "", "Only calls that failed"},
     [](CommandLine& line, std::string_view) -> Result<void> {
         line.options.statuses = {.successful = false, .failed = true, .unfinished = false};
         return {};
     }},
    {{'P', "trace-path", "PATH", "Only calls on this path or glob; may be repeated"},
     [](CommandLine& line, std::string_view value) -> Result<void> {
         line.options.paths.emplace_back(value);
         return {};
     }},
    {{0, "signal", "SET", "Only these signals: none, or all but these: !SET"},
     [](CommandLine& line, std::string_view value) -> Result<void> {
         TRY(line.options.signals, parse_signals(value));
         return {};
     },
     kAlsoInE},
    {{'p', "attach", "PID[,PID]", "Watch these; with -f all their threads and later children"},
     [](CommandLine& line, std::string_view value) -> Result<void> {
         return for_each_word(value, [&](std::string_view word) -> Result<void> {
             TRY(const std::int32_t process, parse_number<std::int32_t>(word, "process"));
             line.options.processes.push_back(process);
             return {};
         });
     }},
    {{'f', "follow-forks", "", "Watch other threads and children too; -ff: -f --output-separately"},
     [](CommandLine& line, std::string_view) -> Result<void> {
         line.options.follow = true;
         line.options.separately = line.options.separately || ++line.follows > 1;
         return {};
     }},
    {{'y', "", "", "Name descriptors by their paths; -yy: sockets by their ends too"},
     [](CommandLine& line, std::string_view) -> Result<void> {
         ++line.names;
         return {};
     },
     false,
     kOfLines},
    {{0, "decode-fds", "[=WHAT]", "The same in words, =WHAT: none, path, socket, all"},
     take_names,
     kAlsoInE,
     kOfLines},
    {{'Y', "", "", "Name processes: the same as --decode-pids=comm"},
     [](CommandLine& line, std::string_view) -> Result<void> {
         line.options.style.pids.names = true;
         return {};
     },
     false,
     kOfLines},
    {{0,
      "decode-pids",
      "SET",
      "Say more of numbers of processes, SET: comm (the thread's name), pidns (what they are in "
      "the "
      "pid namespace of dyetrace)"},
     take_pid_words,
     kAlsoInE,
     kOfLines},
    {{0, "pidns-translation", "", "The same as --decode-pids=pidns"},
     [](CommandLine& line, std::string_view) -> Result<void> {
         line.options.style.pids.translation = true;
         return {};
     },
     false,
     kOfLines},
    {{'t', "", "", "Time of day; -tt: with microseconds; -ttt: in seconds since 1970"},
     [](CommandLine& line, std::string_view) -> Result<void> {
         ++line.times;
         return {};
     },
     false,
     kOfLines},
    {{0,
      "absolute-timestamps",
      "[=FORMAT]",
      "The same in words, =FORMAT: none, time or unix, and s, ms, us, ns"},
     take_absolute_times,
     false,
     kOfLines},
    {{'r', "relative-timestamps", "[=UNIT]", "Time since the call before; =UNIT: s, ms, us, ns"},
     [](CommandLine& line, std::string_view value) -> Result<void> {
         TRY(line.options.style.relative_digits, parse_precision(value));
         return {};
     },
     false,
     kOfLines},
    {{'T', "syscall-times", "[=UNIT]", "Time that each call took; =UNIT: s, ms, us, ns"},
     [](CommandLine& line, std::string_view value) -> Result<void> {
         TRY(line.options.style.duration_digits, parse_precision(value));
         return {};
     },
     false,
     kOfLines},
    {{'n', "syscall-number", "", "Number of each call"},
     [](CommandLine& line, std::string_view) -> Result<void> {
         line.options.style.number = true;
         return {};
     },
     false,
     kOfLines},
    {{'s', "string-limit", "N", "Bytes of strings to show (default: 32)"},
     [](CommandLine& line, std::string_view value) -> Result<void> {
         TRY(line.options.style.limits.text_max,
             parse_number<std::size_t>(value, "number of bytes"));
         return {};
     },
     false,
     kOfLines},
    {{'a', "columns", "COLUMN", "Column at which results begin (default: 40)"},
     [](CommandLine& line, std::string_view value) -> Result<void> {
         constexpr std::size_t kColumnMax = 4096;
         TRY(const auto column, parse_number<std::size_t>(value, "column"));
         line.options.style.result_column = std::min(column, kColumnMax);
         return {};
     },
     false,
     kOfLines},
    {{'v', "no-abbrev", "", "Whole structures; the same as -e abbrev=none"},
     [](CommandLine& line, std::string_view) -> Result<void> {
         line.options.abbreviated = CallSet::none();
         return {};
     },
     false,
     kOfLines},
    {{0, "abbrev", "CALLS", "Whole structures of all calls but these"},
     [](CommandLine& line, std::string_view value) -> Result<void> {
         TRY(line.options.abbreviated, CallSet::parse(value));
         return {};
     },
     kAlsoInE,
     kOfLines},
    {{0, "verbose", "CALLS", "Structures of these calls only, addresses of all others"},
     [](CommandLine& line, std::string_view value) -> Result<void> {
         TRY(line.options.verbose, CallSet::parse(value));
         return {};
     },
     kAlsoInE,
     kOfLines},
    {{'X',
      "const-print-style",
      "STYLE",
      "Flags: abbrev (names, default), raw (numbers), verbose (both)"},
     take_constant_style,
     false,
     kOfLines},
    {{'x', "", "", "Strings that are no text in hexadecimal; -xx: all strings"},
     [](CommandLine& line, std::string_view) -> Result<void> {
         line.options.style.limits.quotes =
             ++line.hex > 1 ? format::Quotes::kHex : format::Quotes::kHexIfAny;
         return {};
     },
     false,
     kOfLines},
    {{0, "read", "SET", "Dump what is read from these descriptors, at most 2,047 bytes of a call"},
     [](CommandLine& line, std::string_view value) -> Result<void> {
         TRY(line.options.dump_reads, parse_descriptors(value));
         return {};
     },
     kAlsoInE,
     kOfLines},
    {{0, "write", "SET", "Dump what is written to these descriptors, as far as that"},
     [](CommandLine& line, std::string_view value) -> Result<void> {
         TRY(line.options.dump_writes, parse_descriptors(value));
         return {};
     },
     kAlsoInE,
     kOfLines},
    {{0, "raw", "CALLS", "Arguments of these calls as they are, in hexadecimal"},
     [](CommandLine& line, std::string_view value) -> Result<void> {
         TRY(line.options.raw, CallSet::parse(value));
         return {};
     },
     kAlsoInE,
     kOfLines},
    {{'o',
      "output",
      "FILE",
      "Write there instead of to stderr; '|COMMAND' or '!COMMAND': into that"},
     [](CommandLine& line, std::string_view value) -> Result<void> {
         line.options.output = value;
         return {};
     }},
    {{'A', "output-append-mode", "", "Append to the file of -o"},
     [](CommandLine& line, std::string_view) -> Result<void> {
         line.options.append = true;
         return {};
     }},
    {{0, "output-separately", "", "A file per thread: FILE.TID"},
     [](CommandLine& line, std::string_view) -> Result<void> {
         line.options.separately = true;
         return {};
     }},
    {{'q', "", "", "No messages of attaching (there are none); -qq: no +++ lines either"},
     [](CommandLine& line, std::string_view) -> Result<void> {
         line.options.ends = line.options.ends && ++line.quiets < 2;
         return {};
     }},
    {{0, "quiet", "[=SET]", "Leave out messages, =SET: exit (the +++ lines), all"},
     take_quiet,
     kAlsoInE},
    {{'c', "summary-only", "", "A table of calls instead of the lines"},
     [](CommandLine& line, std::string_view) -> Result<void> {
         line.summary_only = true;
         return {};
     }},
    {{'C', "summary", "", "A table of calls after the lines"},
     [](CommandLine& line, std::string_view) -> Result<void> {
         line.summary = true;
         return {};
     }},
    {{'w', "summary-wall-clock", "", "In the table, time from begin to end; else time on a CPU"},
     [](CommandLine& line, std::string_view) -> Result<void> {
         line.options.wall_clock = true;
         return {};
     }},
    {{'S',
      "summary-sort-by",
      "ORDER",
      "Order of the table: time (default), avg-time, calls, errors, name, nothing"},
     [](CommandLine& line, std::string_view value) -> Result<void> {
         using format::CallOrder;
         static constexpr NamedValue<CallOrder> kValues[] = {{"time", CallOrder::kTime},
                                                             {"total-time", CallOrder::kTime},
                                                             {"avg-time", CallOrder::kAverage},
                                                             {"calls", CallOrder::kCalls},
                                                             {"errors", CallOrder::kErrors},
                                                             {"name", CallOrder::kName},
                                                             {"nothing", CallOrder::kName}};
         TRY(line.options.summary_order, choose(value, "order of the table", kValues));
         return {};
     }},
    {{0, "json", "", "One object per line, on stdout, with the columns of the table `events`"},
     [](CommandLine& line, std::string_view) -> Result<void> {
         line.json = true;
         return {};
     }},
    {{0, "color", "WHEN", "Colours: auto, always, never (default: auto)"},
     [](CommandLine& line, std::string_view value) -> Result<void> {
         using format::ColourMode;
         static constexpr NamedValue<ColourMode> kValues[] = {{"auto", ColourMode::kAuto},
                                                              {"always", ColourMode::kAlways},
                                                              {"never", ColourMode::kNever}};
         TRY(line.options.colour, choose(value, "value of --color", kValues));
         return {};
     }},
    {{'h', "help", "", "Show this text"},
     [](CommandLine& line, std::string_view) -> Result<void> {
         line.options.help = true;
         return {};
     }},
    {{'V', "version", "", "Show the version"},
     [](CommandLine& line, std::string_view) -> Result<void> {
         line.options.version = true;
         return {};
     }},
    refused('b', "detach-on", "CALL", kChanges),
    refused('E', "env", "VARIABLE", kChanges),
    refused('u', "user", "NAME", kChanges),
    refused(0, "inject", "EXPR", kChanges, kAlsoInE),
    refused(0, "fault", "EXPR", kChanges, kAlsoInE),
    refused('U', "summary-columns", "COLUMNS", kTable),
    refused('O', "summary-syscall-overhead", "TIME", kNoOverhead),
    refused('I', "interruptible", "N", kNoTracer),
    refused('D', "daemonize", "[=HOW]", kNoTracer),
};

Result<void> take_expression(CommandLine& line, std::string_view expression) {
    static constexpr NamedValue<std::string_view> kShort[] = {{"t", "trace"},
                                                              {"a", "abbrev"},
                                                              {"v", "verbose"},
                                                              {"x", "raw"},
                                                              {"s", "signal"},
                                                              {"signals", "signal"},
                                                              {"q", "quiet"},
                                                              {"silent", "quiet"},
                                                              {"silence", "quiet"},
                                                              {"r", "read"},
                                                              {"reads", "read"},
                                                              {"w", "write"},
                                                              {"writes", "write"},
                                                              {"decode-fd", "decode-fds"},
                                                              {"decode-pid", "decode-pids"}};
    const std::size_t equals = expression.find('=');
    if (equals == std::string_view::npos) {
        return act(line, *row_of("trace"), "-e", expression);
    }
    const std::string_view given = expression.substr(0, equals);
    const auto* alias = std::ranges::find(kShort, given, &NamedValue<std::string_view>::text);
    const Row* row = row_of(alias == std::end(kShort) ? given : alias->value);
    if (row == nullptr || !row->also_in_e) {
        return refuse(fmt::format("-e {}=… is not known (dyetrace trace --help)", given));
    }
    return act(line, *row, fmt::format("-e {}=…", given), expression.substr(equals + 1));
}

}  // namespace

std::span<const Row> trace_rows() {
    return kRows;
}

const Row* row_of(char letter) {
    const auto* found =
        std::ranges::find_if(kRows, [&](const Row& row) { return row.option.letter == letter; });
    return found == std::end(kRows) ? nullptr : found;
}

const Row* row_of(std::string_view name) {
    const auto* found =
        std::ranges::find_if(kRows, [&](const Row& row) { return row.option.name == name; });
    return found == std::end(kRows) || name.empty() ? nullptr : found;
}

Result<void> act(CommandLine& line,
                 const Row& row,
                 const std::string& spelling,
                 std::string_view value) {
    if (row.action == nullptr) {
        return refuse(fmt::format("{} {}", spelling, row.refusal));
    }
    if (row.of_lines) {
        line.of_lines.push_back(spelling);
    }
    return row.action(line, value);
}

}  // namespace dyetrace::strace
