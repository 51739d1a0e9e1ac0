// A trace of records that stand as text: what a recorder of content, dyes or several hosts writes, and no log can say.
//
//   host client wall_offset_ns=1700000000000000000
//   task_context context_id=1 pid=10 tid=10 comm=curl
//   handle handle_id=1 object_id=1 object_type=file file_system=ext4 path=/tmp/x
//   write start_ns=1000 context_id=1 handle_id=1 moves="hello"          a call by its name: a syscall_event, numbered as the host's
//                                                                       machine does (`machine=aarch64` behind the host's name; else x86_64)
//   dye_hit dye_id=7 position=2                                         a record by its name, of the call before it
//
// A word before `=` is a column of raw_<record> (schema/record_info.h), so what a column is read from is what is filled in; what is not named is 0, or absent where it may be.
// Values are numbers, names of enums (of the columns that kEnums has), addresses, lists of numbers, or text, in quotes if there are blanks in it; of attachments with the escapes of schema/text.h (\x00).
// `moves` stands for `bytes`, `result` and the `fingerprint` of that text. `sequence` and `parent_sequence` come by themselves. The first host has index 0, the next 1.
#pragma once

#include <string>
#include <vector>

namespace dyetrace::query {

// Makes a trace at `path`. A line that is not understood fails the test.
void write_recorded_trace(const std::string& path, const std::vector<std::string>& lines);

}  // namespace dyetrace::query
