// Signals that are read, not delivered: a loop looks at them between its steps, or polls for them.
#pragma once

#include <initializer_list>

#include "base/fd.h"

namespace dyetrace::base {

// From here on the signals wait in this descriptor for this thread and those that it makes; each is a signalfd_siginfo. Reading never waits.
Fd take_signals(std::initializer_list<int> numbers);

// SIGINT and SIGTERM; a peer that has gone is an error of write, not SIGPIPE.
Fd take_ending_signals();
bool was_asked_to_end(const Fd& signals);

// A file that may grow no more (`ulimit -f`) is an error of write from here on, not the end by SIGXFSZ. Programs that this one runs have it as before.
void outlive_file_size_limit();

}  // namespace dyetrace::base
