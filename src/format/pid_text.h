// Numbers of processes, threads and groups, with what strace's --decode-pids says of them.
//
//   4711                                       nothing was asked for, or nothing is known
//   4711<cat>                                  its name then (comm)
//   5<cat> /* 12345 in strace's PID NS */      the caller has another pid namespace than dyetrace (pidns)
//
// Groups have no name. The words are strace's, whose readers look for them.
#pragma once

#include <cstdint>
#include <string>

#include "schema/dictionary.h"

namespace dyetrace::format {

struct PidStyle {
    bool names = false;            // comm
    bool translation = false;      // pidns
    std::uint32_t namespace_ = 0;  // that of dyetrace
};

// Numbers of one event.
class PidText {
  public:
    PidText() = default;  // plain numbers
    // Writes ids as this task had them at `at_ns`. `numbers` must outlive it.
    PidText(const PidStyle& style,
            const schema::ThreadNumbers& numbers,
            const schema::Task* task,
            std::uint64_t at_ns);

    void append(std::string& out, std::int64_t number) const;
    void append_group(std::string& out, std::int64_t number) const;
    // Above 0 a process, below -1 a group.
    void append_either(std::string& out, std::int64_t number) const;

  private:
    void append_meaning(std::string& out, std::int64_t number, bool is_group) const;

    PidStyle style_;
    const schema::ThreadNumbers* numbers_ = nullptr;
    std::uint32_t from_ = 0;  // pid namespace of the task
    std::uint64_t at_ns_ = 0;
};

// <cat>; nothing for a thread whose name is not known. `tid` is the host's number.
void append_thread_name(std::string& out,
                        const schema::ThreadNumbers& numbers,
                        std::uint32_t tid,
                        std::uint64_t at_ns);

}  // namespace dyetrace::format
