// What a tracepoint's record holds: its `format` file in tracefs.
//
//   name: sched_switch
//   ID: 372
//   format:
//           field:int common_pid;            offset:4;   size:4;   signed:1;     left out: the first 8 bytes are not for programs
//           field:char next_comm[16];        offset:40;  size:16;  signed:0;     text of 16 bytes at byte 40 of the context
//           field:__data_loc char[] name;    offset:12;  size:4;   signed:0;     kDataLocation: where in the record the text is
//
//   print fmt: ...                                                               not read
//
// A program that is attached to the tracepoint has its record as its context, so a field's offset is its byte of the context. For the
// tracepoints of system calls the kernel gives programs the call's number and its arguments, each in 8 bytes, whatever their type; a
// `const char *` of them points into the process. Every other pointer to text points into the kernel, other pointers are numbers.
//
// Limits: arrays of anything but char, structures, and text whose place counts from itself (__rel_data_loc) are left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "probes/named_values.h"

namespace dyetrace::probes {

// The largest that kernels up to 6.18 have is 20 KiB.
constexpr std::size_t kFormatBytesMax = 1 << 20;
// perf's buffer for a record, PERF_MAX_TRACE_SIZE.
constexpr std::uint32_t kRecordBytesMax = 8192;

struct Tracepoint {
    std::string category;  // "sched"
    std::string name;      // "sched_switch"
    std::uint64_t id = 0;  // what perf_event_open calls it
    NamedValues fields;
};

// kCorrupt, with the line, if the text is none of a kernel.
Result<Tracepoint> parse_tracepoint_format(std::string_view category, std::string_view text);

}  // namespace dyetrace::probes
