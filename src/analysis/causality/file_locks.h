// Who let go of which bytes of a file before another one could lock them: the locks of one file, of flock (all bytes) or of fcntl.
//
//   bytes  0         10        20        30
//          |=== A, for itself alone ===|           A lets go of 5 to 20: a call that may be before others
//               |·· let go ··|
//                   |=== B ===============|        B gets 15 to 30: A's call is before it; 5 to 15 still wait for somebody
//
// Who holds a lock lets it go before anybody gets it whom it excludes. That a call that lets go had begun when the lock was got shows that it is
// that of an earlier holder: a later one could not have got the lock, let alone have let it go. A holder that asks for another kind of lock
// on bytes that it has lets the first kind go: so does flock, and fcntl where a lock for one becomes a shared one.
//
// O(ranges of the file that are held, or were let go and not locked for one alone since) per call; of each at most kFileLocksMax, then the oldest
// is forgotten: edges may then be missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/causality/handover_act.h"

namespace dyetrace::analysis {

inline constexpr std::size_t kFileLocksMax = 1024;  // 40 bytes each

class FileLocks {
  public:
    // Calls are told in order of time: one that locks at its start and at its end, one that lets go at its start.
    void requested(const HandoverAct& act);
    void acquired(const HandoverAct& act, std::vector<Handover>& found);
    void released(const HandoverAct& act);

    std::uint64_t forgotten() const { return forgotten_; }

  private:
    struct Held {
        ByteRange range;
        std::uint64_t holder;
        bool exclusive;
    };
    struct Release {
        ByteRange range;
        std::uint64_t event, thread;
        bool exclusive;
    };

    void add_release(const HandoverAct& act, const ByteRange& range, bool exclusive);
    template <typename Part>
    void keep_within_limit(std::vector<Part>& parts);

    std::vector<Held> held_;
    std::vector<Release> releases_;  // oldest first
    std::uint64_t forgotten_ = 0;
};

}  // namespace dyetrace::analysis
