// One event as a line, as strace writes it.
//
//   [pid  4711] 09:14:07.120381 openat(AT_FDCWD, "a/b", O_RDONLY|O_CLOEXEC) = 3</home/a/b> <0.000012>
//   └ follow    └ -tt                                                        └ -y          └ -T
//
// A line never holds a control character, whatever bytes the event has. Not shown as strace does: values that live only
// in the program's memory and were not captured (their address is shown instead).
#pragma once

#include <cstdint>
#include <string>

#include "format/argument.h"

namespace dyetrace::format {

enum class TimeStyle : std::uint8_t {
    kNone,
    kSeconds,       // -t    09:14:07
    kMicroseconds,  // -tt   09:14:07.120381
    kUnix,          // -ttt  1795252447.120381
    kRelative,      // -r    since the line before
};

struct LineStyle {
    Names names = Names::kNone;
    TimeStyle time = TimeStyle::kNone;
    bool duration = false;  // -T
    bool pid = false;       // the thread that called, in front
    bool colour = false;
    bool pid_bare = false;  // "4711 " instead of "[pid  4711] ": what strace -o writes
    Limits limits{};
    std::int64_t wall_offset_ns = 0;       // wall clock minus CLOCK_BOOTTIME of the host
    std::int64_t zone_offset_seconds = 0;  // local time minus UTC
};

class LineWriter {
  public:
    // `dictionary` must outlive it.
    LineWriter(const LineStyle& style, const schema::Dictionary& dictionary);

    // Appends the line without its end; false if the record is no event that has one (parts are inside their call).
    bool append(std::string& out, schema::RecordBytes record);

  private:
    void append_time(std::string& out, std::uint64_t start_ns);
    void append_pid(std::string& out, const schema::Task* task) const;
    void append_call(std::string& out,
                     const schema::SyscallEvent& event,
                     const schema::SyscallInfo& info) const;
    void append_unknown(std::string& out, const schema::SyscallEvent& event) const;
    void append_log(std::string& out, const schema::LogEvent& event) const;

    LineStyle style_;
    const schema::Dictionary& dictionary_;
    std::uint64_t last_start_ns_ = 0;
};

// Column at which "= result" begins unless the call is longer (strace -a).
constexpr std::size_t kResultColumn = 40;

}  // namespace dyetrace::format
