// Random small worlds: what a search through all moments finds, the engine must say as well.
#include <gtest/gtest.h>

#include <map>
#include <queue>
#include <set>

#include "analysis/causality/cause_world.h"

namespace dyetrace::analysis {
namespace {

constexpr unsigned kSeeds = 1000;

// Each event is two moments, 2i its begin and 2i + 1 its end; a path of steps between moments is all that counts.
class BruteForce {
  public:
    explicit BruteForce(const World& world) : steps_(world.events.size() * 2) {
        for (std::size_t i = 0; i < world.events.size(); ++i) {
            steps_[2 * i].push_back(2 * i + 1);
            if (i + 1 < world.events.size() &&
                world.events[i + 1].thread == world.events[i].thread) {
                steps_[2 * i + 1].push_back(2 * i + 2);
            }
        }
    }
    void add(const WorldCause& cause) { steps_[2 * cause.from].push_back(2 * cause.to + 1); }

    std::vector<bool> reached_from(std::size_t moment) const {
        std::vector<bool> reached(steps_.size());
        std::queue<std::size_t> queue({moment});
        while (!queue.empty()) {
            for (const std::size_t next : steps_[queue.front()]) {
                if (!reached[next]) {
                    reached[next] = true;
                    queue.push(next);
                }
            }
            queue.pop();
        }
        return reached;
    }
    bool has_cycle() const {
        for (std::size_t moment = 0; moment < steps_.size(); ++moment) {
            if (reached_from(moment)[moment]) {
                return true;
            }
        }
        return false;
    }

  private:
    std::vector<std::vector<std::size_t>> steps_;
};

// What such a call gave may have been there before all that it took: no one number can stand for both.
bool gives_and_takes(const World& world, std::size_t event) {
    const auto is = [&](auto side) {
        return std::any_of(world.causes.begin(), world.causes.end(), [&](const WorldCause& cause) {
            return cause.*side == event;
        });
    };
    return is(&WorldCause::from) && is(&WorldCause::to);
}

void expect_same_answers(const World& world, const BruteForce& truth, const OrderedSteps& ordered) {
    const HappenedBefore order(ordered.edges);
    std::map<std::uint64_t, std::uint64_t> ranks;
    for (const EventRank& event : ordered.events) {
        ASSERT_EQ(event.place, world.events[event.place.event - 1]);
        ranks[event.place.event] = event.rank;
    }
    ASSERT_EQ(ranks.size(), world.events.size());
    for (std::size_t a = 0; a < world.events.size(); ++a) {
        const std::vector<bool> reached = truth.reached_from(2 * a);
        const Cone after = order.after(world.events[a]);
        for (std::size_t b = 0; b < world.events.size(); ++b) {
            const bool expected = a != b && reached[2 * b + 1];
            ASSERT_EQ(order.between(world.events[a], world.events[b]), expected) << a << ' ' << b;
            ASSERT_EQ(order.in_future(world.events[b], after), expected) << a << ' ' << b;
            const Cone before = order.before(world.events[b]);
            ASSERT_EQ(order.in_past(world.events[a], before), expected) << a << ' ' << b;
            if (expected && !gives_and_takes(world, a)) {
                ASSERT_LT(ranks[a + 1], ranks[b + 1]) << a << ' ' << b;
            }
        }
    }
}

TEST(CausalityOracle, every_pair_of_events_as_a_search_through_all_moments_says) {
    for (unsigned seed = 1; seed <= kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        const World world = random_world(seed, true);
        BruteForce truth(world);
        for (const WorldCause& cause : world.causes) {
            truth.add(cause);
        }
        const OrderedSteps ordered = order_of(world);
        ASSERT_EQ(ordered.cycles.size(), 0u);
        ASSERT_EQ(ordered.edges.size(), world.causes.size());
        expect_same_answers(world, truth, ordered);
        if (HasFatalFailure()) {
            return;
        }
    }
}

// Causes that cannot all be true: each is either in the order or told, and what stays has no cycle.
TEST(CausalityOracle, impossible_causes_are_told_and_the_rest_is_an_order) {
    std::size_t cycles = 0;
    for (unsigned seed = 1; seed <= kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        const World world = random_world(seed, false);
        BruteForce truth(world);
        const OrderedSteps ordered = order_of(world);
        ASSERT_EQ(ordered.edges.size() + ordered.cycles.size(), world.causes.size());
        for (const CauseEdge& edge : ordered.edges) {
            truth.add({edge.from_event - 1, edge.to_event - 1, edge.rule});
        }
        ASSERT_FALSE(truth.has_cycle());
        expect_same_answers(world, truth, ordered);
        if (HasFatalFailure()) {
            return;
        }
        cycles += ordered.cycles.size();
    }
    EXPECT_GT(cycles, kSeeds);
}

// The edges that are told contradict each other in the order of their hosts: whoever takes does so before it gives what is asked for.
TEST(CausalityOracle, the_edges_of_a_cycle_lead_around) {
    std::set<std::size_t> lengths;
    for (unsigned seed = 1; seed <= kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        const World world = random_world(seed, false);
        for (const CauseCycle& cycle : order_of(world).cycles) {
            ASSERT_EQ(cycle.left_out, cycle.edges.front());
            lengths.insert(cycle.edges.size());
            for (std::size_t i = 0; i < cycle.edges.size(); ++i) {
                const CauseEdge& edge = cycle.edges[i];
                const CauseEdge& next = cycle.edges[(i + 1) % cycle.edges.size()];
                ASSERT_EQ(world.host_of[edge.from_event - 1], world.host_of[next.to_event - 1]);
                ASSERT_GT(edge.from_at, next.to_at);  // one clock: they are on one host
            }
        }
    }
    EXPECT_EQ(lengths, (std::set<std::size_t>{1, 2, 3}));
}

TEST(CausalityOracle, clocks_within_their_bounds_refute_nothing) {
    for (unsigned seed = 1; seed <= kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        const World world = random_world(seed, true);
        std::mt19937_64 random(seed);
        const std::uint64_t error_ns = random() % 50;
        std::vector<std::int64_t> shifts;
        for (std::size_t host = 0; host < world.hosts; ++host) {
            shifts.push_back(static_cast<std::int64_t>(random() % (2 * error_ns + 1)) -
                             static_cast<std::int64_t>(error_ns));
        }
        const OrderedSteps ordered = order_of(world, map_of(world, shifts, error_ns));
        ASSERT_EQ(ordered.late.size(), 0u);
        ASSERT_EQ(ordered.edges.size(), world.causes.size());
    }
}

struct ExpectedLate {
    std::uint64_t from_event, to_event;
    schema::CauseRule rule;
    std::int64_t given_earliest, taken_latest;
    auto operator<=>(const ExpectedLate&) const = default;
};

std::multiset<ExpectedLate> late_in(const World& world,
                                    const std::vector<std::int64_t>& shifts,
                                    std::int64_t error_ns) {
    std::multiset<ExpectedLate> late;
    for (const WorldCause& cause : world.causes) {
        const std::size_t giver = world.host_of[cause.from], taker = world.host_of[cause.to];
        const EventPlace &from = world.events[cause.from], &to = world.events[cause.to];
        const auto given =
            static_cast<std::int64_t>(from.begin - world.offsets[giver]) + shifts[giver] - error_ns;
        const auto taken =
            static_cast<std::int64_t>(to.end - world.offsets[taker]) + shifts[taker] + error_ns;
        if (giver != taker && given > taken) {
            late.insert({from.event, to.event, cause.rule, given, taken});
        }
    }
    return late;
}

// One host's clock is wrong by more than its map admits: each edge that this makes late is told, and no other one.
TEST(CausalityOracle, edges_that_a_spoilt_clock_makes_late_are_told) {
    std::size_t left_out = 0, kept = 0;
    for (unsigned seed = 1; seed <= kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        const World world = random_world(seed, true);
        std::mt19937_64 random(seed);
        std::vector<std::int64_t> shifts(world.hosts, 0);
        shifts[random() % world.hosts] = static_cast<std::int64_t>(random() % 400) - 200;
        const OrderedSteps ordered = order_of(world, map_of(world, shifts, 10));
        std::multiset<ExpectedLate> found;
        std::size_t left_out_here = 0;
        for (const LateEdge& late : ordered.late) {
            found.insert({late.edge.from_event,
                          late.edge.to_event,
                          late.edge.rule,
                          late.given.earliest.ns(),
                          late.taken.latest.ns()});
            ASSERT_EQ(late.is_left_out, late.edge.rule == schema::CauseRule::kDatagram);
            ASSERT_EQ(likely_cause(late),
                      late.is_left_out ? schema::ContradictionCause::kLoss
                                       : schema::ContradictionCause::kClock);
            left_out_here += late.is_left_out;
        }
        ASSERT_EQ(found, late_in(world, shifts, 10));
        ASSERT_EQ(ordered.edges.size() + left_out_here, world.causes.size());
        left_out += left_out_here;
        kept += ordered.late.size() - left_out_here;
    }
    EXPECT_GT(left_out, 100u);
    EXPECT_GT(kept, 100u);
}

}  // namespace
}  // namespace dyetrace::analysis
