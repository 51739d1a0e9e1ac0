// A recording as text, a line per event, so that a test compares every public column at once, and what is absent must
// be absent.
//
//   EXPECT_EQ(rows([] { pread(3, buffer, 3, 7); }), lines(R"(
//       pread64 file =3 fd=3 #1 file ~/data O_RDWR @7 size=10 3/3 {"pos":7}
//   )"));
//
//   name class =result | fd | #object type path "argument_path" open_flags | @file_offset size=object_size |
//   bytes/requested | => #object2 path2 @file_offset2 | local > remote connection stream@stream_offset |
//   target=process | arguments
//
// What differs from run to run has a number in the order of its appearance: objects #1, processes and threads p1, ports
// :port1, connections connection1. ~ is the folder of the test, 0x* an address in memory, [N] and
// #N the inode in a name, <1b> a control character. A ? after an offset says that it is not
// certain. `[tmpfs]` is said only of a file system that is not the folder's; abi, state and thread
// where they are not x86_64, finished, p1. The columns that say who and when are not shown: each
// row is held to laws(). Nor is O_LARGEFILE, which the kernel gives to all that 64-bit code opens.
#pragma once

#include <string>
#include <string_view>

#include "kernel/recorded.h"

namespace dyetrace::test {

// Lines without their indentation and without empty ones.
std::string lines(std::string_view text);
// Each with its line break.
std::vector<std::string> split_rows(std::string_view rows);

// N in place of the numbers of System V queues, which the machine counts.
std::string without_queue_ids(const std::string& rows);

// What holds for every event of a call, whatever it is: "" or which columns contradict each other or its schema.
std::string laws(const Event& event);

class RowsTest : public KernelTest {
  protected:
    RowsTest() { bare_descriptors_ = true; }

    // Records `program`, whose first descriptor is 3, and shows what it did before it ended: first its own thread, then
    // each other in the order of their appearance.
    std::string rows(const std::function<void()>& program, int killed_by = 0);
    std::string rows(const Trace& trace);

    // A file of the test's folder; returns its path.
    std::string make_file(std::string_view name, std::string_view content);
};

}  // namespace dyetrace::test
