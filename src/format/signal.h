// A signal as a line, as strace writes it:
//
//   --- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_USER, si_pid=4711, si_uid=0} ---
//   --- SIGSEGV {si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=0x10} ---
//
// and the siginfo_t that a call queues, the part in braces.
//
// Limits: what SIGIO says of a descriptor and SIGSYS of a call is not recorded.
#pragma once

#include <string>
#include <string_view>

#include "format/pid_text.h"
#include "schema/generated/records.h"

namespace dyetrace::format {

void append_signal(std::string& out, const schema::SignalEvent& event, const PidText& pids = {});

// The layout is that of x86_64. False, and nothing appended, if it is cut.
bool append_siginfo(std::string& out, std::string_view bytes, const PidText& pids);

}  // namespace dyetrace::format
