// One event as a line, as strace writes it.
//
//   [pid  4711] 09:14:07.120381 openat(AT_FDCWD, "a/b", O_RDONLY|O_CLOEXEC) = 3</home/a/b> <0.000012>
//   └ follow    └ -tt                                                        └ -y          └ -T
//
// A line never holds a control character, whatever bytes the event has. Not shown as strace does: values that live only
// in the program's memory and were not captured (their address is shown instead).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "format/argument.h"

namespace dyetrace::format {

enum class TimeStyle : std::uint8_t {
    kNone,
    kClock,  // -t   09:14:07
    kUnix,   // -ttt 1795252447.120381
};

// How calls are shown that are not shown as usual.
class CallDetails {
  public:
    virtual ~CallDetails() = default;
    virtual CallDetail of(const schema::SyscallInfo& call,
                          const schema::SyscallEvent& event) const = 0;
};

struct LineStyle {
    Names names = Names::kNone;
    PidStyle pids = {};  // --decode-pids
    TimeStyle time = TimeStyle::kNone;
    int time_digits = 0;                      // of seconds; -tt: 6
    std::optional<int> relative_digits = {};  // -r: time since the line before
    std::optional<int> duration_digits = {};  // -T
    bool number = false;                      // -n
    bool pid = false;                         // the thread that called, in front
    bool colour = false;
    bool pid_bare = false;           // "4711 " instead of "[pid  4711] ": what strace -o writes
    std::size_t result_column = 40;  // where "= result" begins unless the call is longer: -a
    const CallDetails* details = nullptr;  // borrowed; nullptr: all calls as usual
    Limits limits{};
    std::int64_t wall_offset_ns = 0;       // wall clock minus CLOCK_BOOTTIME of the host
    std::int64_t zone_offset_seconds = 0;  // local time minus UTC
};

class LineWriter {
  public:
    // `dictionary` must outlive it.
    LineWriter(const LineStyle& style, const schema::Dictionary& dictionary);

    // Appends the line without its end, of an event or the end of a thread; false if the record has none (parts are inside
    // their call).
    bool append(std::string& out, schema::RecordBytes record);

  private:
    void append_time(std::string& out, std::uint64_t start_ns);
    void append_prefix(std::string& out, std::uint32_t tid, std::uint64_t at_ns);
    void append_pid(std::string& out, std::uint32_t tid, std::uint64_t at_ns) const;
    PidText pids_of(std::uint32_t context_id, std::uint64_t at_ns) const;
    void append_relative(std::string& out, std::uint64_t start_ns);
    std::uint32_t tid_of(std::uint32_t context_id) const;
    // `line` is where the line begins in `out`.
    void append_call(std::string& out,
                     std::size_t line,
                     const schema::SyscallEvent& event,
                     const schema::SyscallInfo& info) const;
    void append_unknown(std::string& out, const schema::SyscallEvent& event) const;
    void append_end(std::string& out, const schema::ThreadEnd& end) const;
    void append_log(std::string& out, const schema::LogEvent& event) const;

    LineStyle style_;
    const schema::Dictionary& dictionary_;
    std::uint64_t last_start_ns_ = 0;
};

}  // namespace dyetrace::format
