// A signal as a line, as strace writes it:
//
//   --- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_USER, si_pid=4711, si_uid=0} ---
//   --- SIGSEGV {si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=0x10} ---
//
// Limits: what SIGIO says of a descriptor and SIGSYS of a call is not recorded.
#pragma once

#include <string>

#include "schema/generated/records.h"

namespace dyetrace::format {

void append_signal(std::string& out, const schema::SignalEvent& event);

}  // namespace dyetrace::format
