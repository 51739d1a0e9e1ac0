// What threads hand to each other without bytes: signals, wake-ups, locks, counts. Calls in, pairs of events out.
//
//   lock(A) ──── unlock(A)                        a lock is held by one at a time, so
//          lock(B) ···waits··· granted            unlock(A) ─lock─► lock(B)
//
// Calls of one host are told at their start and at their end, in order of time, starts first: the kernel orders what happens to one signal
// queue, one futex, one file's locks or one counter, and what had ended before another call began comes before it there. Where calls overlap
// so that two could have been the giver, nothing is said. Which rule says what: handover.cpp, and file_locks.h of locks.
//
// O(calls under way on the same item) per call. Memory: 100 bytes for each item that was touched, and as much for each of the last
// kHandoverGivesMax calls on it that may still count; where there are more the oldest is forgotten: edges may then be missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "analysis/causality/file_locks.h"
#include "analysis/causality/handover_act.h"

namespace dyetrace::analysis {

inline constexpr std::size_t kHandoverGivesMax = 256;

class HandoverEngine {
  public:
    void starts(const HandoverAct& act, std::vector<Handover>& found);
    void ends(const HandoverAct& act, std::vector<Handover>& found);

    std::uint64_t forgotten() const;

  private:
    struct Give {
        std::uint64_t event, thread, start_ns, end_ns;
    };
    struct Item {
        std::deque<Give> gives;
        std::uint64_t forgotten_until_ns = 0;
        std::uint64_t last_read_start_ns = 0;
        // Eventfd: a read takes all that was added; something may be there that no call of these added, or that a read left.
        bool resets = false, may_be_left = true;
    };

    void give(Item& item, const HandoverAct& act);
    void deliver(Item& item, const HandoverAct& act, std::vector<Handover>& found);
    void wake(Item& item, const HandoverAct& act, std::vector<Handover>& found);
    void count(Item& item, const HandoverAct& act, std::vector<Handover>& found);

    std::unordered_map<std::uint64_t, Item> items_;
    std::unordered_map<std::uint64_t, FileLocks> locks_;
    std::uint64_t forgotten_ = 0;
};

}  // namespace dyetrace::analysis
