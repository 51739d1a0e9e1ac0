// A queue of messages that have a type or a priority (msgsnd, mq_send): of one type the first that was sent is the first that is taken, whichever type a
// receiver asks for.
//
//   sent    A(type 1)  B(2)  C(1) ──►   taken   R(2)  S(1)       flows  B ─► R   A ─► S     left  C
//
// A receiver that does not say what priority it got has the first of the highest one that waits. Lengths, and fingerprints where there are some, have to agree.
// Certain where each call on the queue is known, or the kernel says that nothing was left and as many were taken as sent, and either calls of one end did not
// overlap or there was but one message to be had. Where two orders are possible: likely. Where messages may have been in it that nobody saw coming: likely by
// fingerprint, else possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "analysis/dataflow/calls_in_flight.h"
#include "analysis/dataflow/flow.h"
#include "analysis/dataflow/operation.h"

namespace dyetrace::analysis {

// A queue of POSIX holds up to 65,536 messages (HARD_MSGMAX), one of System V 16 KiB unless told otherwise: more are of a reader that is not watched.
inline constexpr std::size_t kWaitingLettersMax = 65'536;

class Mailbox {
  public:
    // The type is Side::other, 0 if it is not known.
    void sent(const Operation& operation, Act act, std::vector<Flow>& flows);
    void taken(const Operation& operation, Act act, std::vector<Flow>& flows);
    void send_starts(std::uint64_t event) { sending_.starts(event); }
    void take_starts(std::uint64_t event) { taking_.starts(event); }
    // A call ended of which nobody knows whether it moved a message: from here on order is a guess, until the queue is seen empty.
    void lose_count(std::uint64_t event);

    // Messages that were left out, to stay within the limit.
    std::uint64_t forgotten() const { return forgotten_; }

  private:
    struct Letter {
        Act act;
        std::uint64_t type, bytes;
        std::optional<std::uint64_t> fingerprint;
        bool balanced, empties;  // Side
        bool alone;              // no other call of this end overlapped with it
        bool agrees_with(const Letter& other) const;
    };
    using Letters = std::deque<Letter>;

    static Letter letter_of(const Operation& operation, const Side& side, Act act);
    // Those of a type, the highest if it is not known, in which one agrees.
    Letters* find(const Letter& taker, Letters::iterator& found);
    void add_flow(const Letter& sender, const Letter& taker, bool sure, std::vector<Flow>& flows);
    void see_empty(const Letter& taker);
    void forget_those_too_early();
    void forget_guesses();

    std::map<std::uint64_t, Letters, std::greater<>> sent_;  // not taken yet, by type
    Letters early_;  // taken before the call that sent them returned
    std::uint64_t sent_count_ = 0, taken_count_ = 0, waiting_ = 0;
    std::uint64_t last_sent_ns_ = 0;
    std::uint64_t forgotten_ = 0;
    bool counted_ = true;
    bool guessed_ = false;  // which of them waits, since there was none
    CallsInFlight sending_, taking_;
};

}  // namespace dyetrace::analysis
