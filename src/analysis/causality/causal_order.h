// Brings the events of all hosts into one order that no cause contradicts, in one pass, and finds what cannot be ordered.
//
//   host 1   … ends(a) ── gives(1) ── ends(b) ─────────────── takes(2) ── …        a host's steps come in the order of its own clock
//                            └────────────┐                      ▲
//   host 2   … ends(c) ───────────────── takes(1) ── gives(2) ───┘ …              a take waits until its give has passed
//
// Each host is read for as long as nothing is missing; a host that waits for a give of another one rests until that has passed. So times
// of different hosts are never compared. When all rest, the takes on which they rest form a cycle: the least trusted of its
// edges is left out, and told with all events of the cycle. A take before its own give on one host is such a cycle of one edge.
//
// With a map of the hosts' clocks an edge is told, too, that is late: by all that the messages allow its giver began for certain when
// its taker had ended. It is left out where its rule takes messages for one another that only look alike, and where it closes a cycle,
// of which it alone is told then; else the clock is what is wrong, and the edge stays.
//
// Ranks are Lamport's numbers: a thread's grows with each event, and a take raises it above what its give had. O(1) per step. Memory:
// 24 bytes for each thread that had a step, 40 for each edge whose give has passed and whose take has not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/causality/cause_edge.h"
#include "analysis/causality/number_map.h"
#include "analysis/clock/clock_pieces.h"
#include "base/result.h"

namespace dyetrace::analysis {

enum class StepKind : std::uint8_t { kGives, kTakes, kEnds };

// What a thread does at one moment. Steps of a host are sorted by (at, kind): what is given at a moment may be taken at it.
struct CauseStep {
    StepKind kind = StepKind::kEnds;
    schema::CauseRule rule = schema::CauseRule::kFork;
    std::uint32_t other_host = 0;  // kTakes: position of the giver's host among the sources
    std::uint64_t at = 0;
    std::uint64_t thread = 0;
    std::uint64_t event = 0;
    std::uint64_t edge = 0;  // kGives, kTakes: its number
    std::uint64_t other_event = 0, other_thread = 0,
                  other_at = 0;  // kTakes: who gave; kEnds: `other_at` is its begin
};

struct EventRank {
    EventPlace place;
    std::uint64_t rank = 0;
};

// Edges that cannot all be true; `left_out` is the one that the order does without.
struct CauseCycle {
    CauseEdge left_out;
    std::vector<CauseEdge> edges;  // of the cycle, `left_out` first
};

// What most likely made a cycle whose least trusted edge is this.
schema::ContradictionCause likely_cause(const CauseCycle& cycle);

// An edge whose giver began after its taker had ended: given.earliest is later than taken.latest.
struct LateEdge {
    CauseEdge edge;
    ClusterTime given, taken;
    bool is_left_out = false;  // the order does without it
};

schema::ContradictionCause likely_cause(const LateEdge& late);

// The next steps of a host; none: there are no more.
using StepSource = std::function<Result<std::span<const CauseStep>>()>;

struct OrderedSteps {
    std::vector<CauseEdge> edges;   // whose take has passed
    std::vector<EventRank> events;  // that have ended
    std::vector<CauseCycle> cycles;
    std::vector<LateEdge> late;
    void clear() {
        edges.clear();
        events.clear();
        cycles.clear();
        late.clear();
    }
};

class CausalOrder {
  public:
    // `clock`: of each host by its position; empty: times of different hosts are not looked at.
    explicit CausalOrder(std::vector<StepSource> hosts, ClockPieces clock = {});

    // Goes on for some thousand steps and adds what came of them. False: all has passed.
    Result<bool> advance(OrderedSteps& out);

  private:
    struct Host {
        StepSource source;
        std::span<const CauseStep> steps = {};
        std::size_t next = 0;
        bool ended = false;
    };

    Result<bool> read(std::size_t host, OrderedSteps& out, std::size_t& budget);
    bool pass(std::size_t host, const CauseStep& step, OrderedSteps& out);
    bool take(std::size_t host, const CauseStep& step, OrderedSteps& out);
    std::optional<LateEdge> late_edge(std::size_t host, const CauseStep& take) const;
    bool leave_one_out(OrderedSteps& out);
    const CauseStep& blocking(std::size_t host) const;

    std::vector<Host> hosts_;
    ClockPieces clock_;
    std::vector<std::size_t> ready_;
    std::unordered_map<std::uint64_t, std::size_t> resting_;  // edge → the host that waits for it
    std::unordered_set<std::uint64_t> left_out_;              // edges whose give has not passed yet
    NumberMap ranks_;                                         // by thread
    NumberMap given_;                                         // by edge: the giver's rank
};

}  // namespace dyetrace::analysis
