// The table of `top`, of what a kernel counts and of a trace that is being recorded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dyetrace::format {

// A process in an interval.
struct TopRow {
    std::string host;  // empty: this one
    std::uint64_t pid = 0;
    std::string comm;
    std::string arguments;  // of its program, after the name
    std::uint64_t calls = 0;
    std::uint64_t errors = 0;  // without those that say that it would have to wait
    std::uint64_t would_wait = 0;
    std::uint64_t read_bytes = 0;
    std::uint64_t written_bytes = 0;
    std::uint64_t p99_ns = 0;
    std::uint64_t max_ns = 0;
};

// `width` columns, 79 at least; `rows_max` lines below the header. Rows with a host are named host:process; where several have one name, their arguments stand beside it.
std::string top_text(const std::vector<TopRow>& rows,
                     double seconds,
                     int rows_max,
                     std::size_t width = 79);

// What stands after the name in a command line as the kernel keeps it, words with NULs between; of absolute paths the last name.
std::string arguments_of(std::string_view command);

// An object per row and line.
std::string top_json(const std::vector<TopRow>& rows, double seconds);

// Lines that fit on the terminal below `used` others; as many as are worth reading where there is none.
int top_rows_max(int used);

// Clears a terminal.
inline constexpr const char* kClearScreen = "\x1b[H\x1b[2J";

}  // namespace dyetrace::format
