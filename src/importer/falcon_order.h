// Puts the events of a log of Falcon into an order that keeps every rule of its solver, in linear time and without one.
//
//   T1@a   CREATE(T2) ─────────── LOCK(m) UNLOCK(m) ───────── JOIN(T2)      the events of a thread in the order of their timestamps;
//              └► T2@a  START ─────────── LOCK(m) UNLOCK(m) END ──┘         an event waits until what it needs has passed
//   T1@b   RCV(5 bytes of a's SND)
//
// | needs | to have passed |
// | START | CREATE of the thread; if it starts more than once (a number that came again), that of the same turn |
// | JOIN | the last event of the child; its END of the same turn if it started more than once |
// | ACCEPT | the CONNECT of the same socket and turn, the last with the last |
// | RCV, TCP | the SNDs of this direction of the socket that its bytes are of, counted from the first |
// | RCV, UDP | the SNDs of the same message |
// | SHUTDOWN | the CLOSEs of the socket by other threads, if it is the first |
// | LOCK | the UNLOCK of whoever holds the lock; on its host the earlier LOCKs |
// | WAIT | a NOTIFY that no other WAIT had, or a NOTIFYALL, of the same variable; on its host the earlier WAITs |
//
// Among the threads whose next event needs nothing more, the one with the earliest timestamp goes on. So where a rule leaves a choice (which
// critical section comes first, which NOTIFY a WAIT had), timestamps make it, and two hosts whose clocks disagree still get an order. When all
// wait for each other the log contradicts the rules: the earliest goes on without what it needs (`is_forced`).
//
// Times: what came of an event is handed to the caller at a time of its host that is at least its own, later than all before it in its thread and
// than all that it needed on its host (kStepNs apart). Times of different hosts are compared for choices only.
//
// O(log threads) for each event. Memory: what is held, and 100 bytes for each thread, socket and variable. The caller says when to let go:
// whoever holds all events gets all rules; an event that comes after a later one of its thread has passed is put after it (`is_late`).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "importer/falcon_event.h"

namespace dyetrace::importer {

// Room for a moment after an event and before the next of its thread (query/sql/cause_rules.sql: a point of time that takes and gives).
inline constexpr std::uint64_t kStepNs = 2;

// An event that has passed: where it stands in the trace.
struct FalconPlace {
    std::uint32_t host_number = 0;
    std::uint64_t event = 0;
    std::uint64_t time_ns = 0;
};

struct FalconPassed {
    FalconEvent event;
    std::uint64_t time_ns = 0;  // at least event.time_ns
    bool is_forced = false;
    bool is_late = false;
    std::vector<FalconPlace>
        after;  // what it needed, but for the bytes of TCP: these have positions
    std::uint64_t stream_offset =
        0;  // SND, RCV, TCP: position of the first byte, counted from the first in the log
};

class FalconOrder {
  public:
    // Writes an event down and says where.
    using Pass = std::function<Result<FalconPlace>(const FalconPassed& passed)>;

    explicit FalconOrder(Pass pass) : pass_(std::move(pass)) {}

    void add(FalconEvent event);
    std::size_t held() const { return held_; }
    // The next one in order passes. There is one.
    Result<void> pass_one();

  private:
    struct Thread {
        std::deque<FalconEvent> waiting;  // by time, then as they came
        std::optional<FalconPlace> last;
        std::uint64_t last_own_ns = 0;  // its time as the log has it
        std::uint64_t turn = 0;         // among those that are ready or blocked
        std::uint64_t turn_ns = 0;
        bool is_blocked = false;
    };
    struct Turn {
        std::uint64_t time_ns, number;
        std::uint32_t thread;
        auto operator<=>(const Turn&) const = default;
    };
    struct Sent {
        std::uint64_t begin, end;
        FalconPlace place;
    };
    struct Channel {
        std::uint64_t sent = 0, taken = 0;
        std::uint32_t waiting = 0;  // SNDs
        std::deque<Sent> sends;     // not all of whose bytes were taken
    };
    // Items that one kind of event gives and another kind needs.
    struct Gifts {
        std::uint32_t waiting = 0;  // givers that have not passed
        std::uint32_t takers = 0;   // that have passed or wait
        std::uint32_t taken = 0;
        std::vector<FalconPlace> given;
        std::vector<std::uint32_t> givers;  // threads
    };
    // Who takes the same thing on one host does so in the order of its clock: else one might get it early, and wait for another one
    // that should have had it before.
    using Takers = std::multiset<std::pair<std::uint32_t, std::uint64_t>>;  // host, time
    struct Lock {
        Takers takers;
        std::optional<std::uint32_t> holder;
        std::uint32_t depth = 0;
        std::optional<FalconPlace> unlocked;
        std::uint32_t unlocked_by = 0;
        std::unordered_map<std::uint32_t, std::uint32_t> unlocks_waiting;  // by thread
    };
    struct Condition {
        Takers takers;
        std::uint32_t waiting = 0;         // notifies
        std::deque<FalconPlace> notifies;  // that no WAIT had
        std::optional<FalconPlace> to_all;
    };
    struct Needs {
        bool met = true;
        std::string key;  // what to wait for if not
    };

    std::uint32_t thread_of(const std::string& name);
    static std::string channel_key(const FalconEvent& event);
    void count(const FalconEvent& event, std::uint32_t thread);
    void offer(std::uint32_t thread);
    Needs needs_of(const FalconEvent& event, std::uint32_t thread);
    Needs needs_bytes(const FalconEvent& event);
    Needs needs_closes(const FalconEvent& event, std::uint32_t thread);
    static bool is_first(const Takers& takers, const FalconEvent& event);
    static std::uint64_t turn_of(const Gifts& gifts);
    static Needs needs_turn(const Gifts& gifts, std::string key);
    Needs needs_end(const FalconEvent& event, std::uint32_t thread);
    std::vector<FalconPlace> gather(const FalconEvent& event, std::uint32_t thread);
    std::vector<FalconPlace> gather_ends(const FalconEvent& event, std::uint32_t thread);
    std::vector<FalconPlace> gather_notify(const FalconEvent& event);
    std::vector<FalconPlace> gather_bytes(const FalconEvent& event);
    void settle(const FalconEvent& event, std::uint32_t thread, const FalconPlace& place);
    void settle_lock(const FalconEvent& event, std::uint32_t thread, const FalconPlace& place);
    void settle_condition(const FalconEvent& event, const FalconPlace& place);
    void wake(const std::string& key);
    Result<void> pass(std::uint32_t thread, bool is_forced);

    Pass pass_;
    std::size_t held_ = 0;
    std::uint64_t turns_ = 0;
    std::vector<Thread> threads_;
    std::unordered_map<std::string, std::uint32_t> thread_numbers_;
    std::set<Turn> ready_, blocked_;
    std::unordered_map<std::string, std::vector<std::uint32_t>>
        sleepers_;  // threads by what they wait for
    std::unordered_map<std::string, Channel> channels_;
    std::unordered_map<std::string, Gifts> creates_, ends_, connects_, closes_;
    std::unordered_map<std::string, Lock> locks_;
    std::unordered_map<std::string, Condition> conditions_;
};

}  // namespace dyetrace::importer
