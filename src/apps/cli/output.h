// What a verb has to tell, on stdout. Whether all of it could be written is known at the end only; there it is said, once for every verb.
//
//   put(fmt::format("{}  {}\n", number, path));
//   return finish_output(exit_status);      a full disk, a closed stdout: one line on stderr
//
// A reader that has gone is told nothing. Limits: whoever prints without an end looks at is_output_written() between two answers.
#pragma once

#include <string_view>

namespace dyetrace::apps {

inline constexpr const char* kCannotWrite = "cannot write the output";

void put(std::string_view text);

// All that was put has left this process.
bool is_output_written();

// The exit status: kExitFailure instead of 0 if the output could not be written.
int finish_output(int exit_status);

}  // namespace dyetrace::apps
