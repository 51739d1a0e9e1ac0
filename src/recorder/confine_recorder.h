// What a recorder gives up once it listens (record, trace, stat, top, live over events): everything that it will not need again, though it began as root.
//
//   attached ──► the sealer and the page are started ──► confine_recorder() ──► loop, end
//
// Kept: CAP_BPF and CAP_PERFMON for maps, iterators and links of what is loaded (dyes that are named later are elements of a map; kernels before 5.19 ask
// for CAP_BPF even there), CAP_SYS_NICE to go before the programs when a ring fills, and CAP_KILL to hand signals on to a command that became
// another user. /proc of others is read before that only, but where stacks of programs are to have names: then CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH are kept, to read
// what processes have mapped. No new program or map of BPF, no ptrace(), mount, key, module or change of user, no
// other program; files are written in the trace only (of `trace`: the threads' files). A trace that lies in a folder which is closed
// to this user, as a home is to root without them, needs CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH. The command was started before and keeps all that it had.
#pragma once

#include <string>

#include "base/log.h"

namespace dyetrace::recorder {

// Call it while there is one thread. `writable`: a folder, or nothing. What cannot be given up is said.
void confine_recorder(const base::Log& log, const std::string& writable, bool names_stacks);

}  // namespace dyetrace::recorder
