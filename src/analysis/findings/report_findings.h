// What in a report is worth a look, in plain words, with its cost and the query that proves it.
//
//   sqlite3[4711] spent 58 % of its time in 96 syncs of /tmp/demo.db-journal, which it then deleted
//
// Pure and reproducible: the same rows, the same findings, the dearest first; before all others, what ended a process and what has no cost: what TCP
// sent again, what cannot be seen. What a program does with several files, in several processes or on several hosts is one finding; what programs expect (ENOTTY, EAGAIN of what waits) or what costs next to nothing is none.
// Limits: kFindingsMax, the rest is not said.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/findings/report_rows.h"

namespace dyetrace::analysis {

// Which events show it; `reports` makes SQL of it.
struct Proof {
    std::optional<std::string> host = {};  // if the trace has several
    std::uint64_t task = 0;                // pid; of blocked_thread tid
    std::string path = {};                 // of sync_share, small_transfers, repeated_opens
    std::string call = {}, error = {};     // of failing_calls
    std::uint64_t signal = 0;              // of killed_by_signal
};

struct Finding {
    std::string
        kind;  // killed_by_signal, sync_share, small_transfers, repeated_opens, failing_calls, blocked_thread, sent_again, unseen_ring, polled_ring
    std::string
        process;  // "postgres[812]", of several hosts "db1:postgres[812]"; of blocked_thread the thread
    std::string text;           // one sentence, no full stop
    std::uint64_t cost_ns = 0;  // of all that it stands for
    Proof proof = {};
    std::size_t hosts_alike = 0;  // more of them, where a program of that name does the same
};

inline constexpr std::size_t kFindingsMax = 8;  // a screen

std::vector<Finding> findings_of(const Report& report);

}  // namespace dyetrace::analysis
