// The table of `top`, of what a kernel counts and of a trace that is being recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dyetrace::format {

// A process in an interval.
struct TopRow {
    std::string host;  // empty: this one
    std::uint64_t pid = 0;
    std::string comm;
    std::uint64_t calls = 0;
    std::uint64_t errors = 0;
    std::uint64_t read_bytes = 0;
    std::uint64_t written_bytes = 0;
    std::uint64_t p99_ns = 0;
    std::uint64_t max_ns = 0;
};

// 79 columns; `rows_max` lines below the header. Rows with a host are named host:process.
std::string top_text(const std::vector<TopRow>& rows, double seconds, int rows_max);

// An object per row and line.
std::string top_json(const std::vector<TopRow>& rows, double seconds);

// Lines that fit on the terminal below `used` others; as many as are worth reading where there is none.
int top_rows_max(int used);

// Clears a terminal.
inline constexpr const char* kClearScreen = "\x1b[H\x1b[2J";

}  // namespace dyetrace::format
