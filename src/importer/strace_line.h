// A line of strace's, taken apart; what its arguments mean is not looked at.
//
//   4702  12:56:18.804827 close(3</tmp/x> <unfinished ...>        task 4702, begins close, text `close(3</tmp/x> `
//   4702  12:56:18.804863 <... close resumed>) = 0 <0.000036>     task 4702, ends close, text `) = 0`, took 36 µs
//
// A line begins with [pid N], N or nothing; times are those of -t, -tt, -ttt and -r, in any number of digits; -T ends it. `[…]` of -n and -i is skipped.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace dyetrace::importer {

enum class StraceKind : std::uint8_t {
    kCall,      // begins and ends
    kBegins,    // <unfinished ...>
    kEnds,      // <... name resumed>
    kSignal,    // --- SIGCHLD {…} ---
    kExited,    // +++ exited with 0 +++
    kKilled,    // +++ killed by SIGKILL +++
    kReplaced,  // +++ superseded by execve in pid N +++
    kMessage,   // what strace says of itself, and stacks of -k
    kUnreadable,
};

inline constexpr std::uint64_t kSecondNs = 1'000'000'000;

enum class StraceTime : std::uint8_t { kNone, kDay, kEpoch, kRelative };

struct StraceLine {
    StraceKind kind = StraceKind::kUnreadable;
    std::optional<std::uint32_t> task;
    StraceTime time_is = StraceTime::kNone;
    std::uint64_t time_ns = 0;
    std::optional<std::uint64_t> took_ns;
    std::string_view name;  // of the call, or of the signal
    std::string_view text;  // see above; of a signal the siginfo, of an end the status or signal
};

StraceLine parse_strace_line(std::string_view line);

// `3</tmp/x>`, `4<TCP:[10.0.0.1:5->10.0.0.2:80]>`, `5</dev/null<char 1:3>>`: where what began at `open` closes; the size of the text if nowhere.
std::size_t end_of_decoration(std::string_view text, std::size_t open);

// `name(arguments) = result …`: where the parenthesis closes. npos: nowhere.
std::size_t end_of_arguments(std::string_view text, std::size_t open);

}  // namespace dyetrace::importer
