// One clock for clusters of which the truth is known.

#include <gtest/gtest.h>

#include <cstdlib>

#include "cluster_checks.h"
#include "simulated_cluster.h"

namespace dyetrace::simulation {
namespace {

using analysis::ClockSolution;

constexpr int kInstants = 200;

// How many clusters of a kind are tried: some, or as many as DYETRACE_SIMULATION_SEEDS says.
std::uint64_t seeds(std::uint64_t usual) {
    const char* const asked = std::getenv("DYETRACE_SIMULATION_SEEDS");
    return asked != nullptr ? std::strtoull(asked, nullptr, 10) : usual;
}

// The truth is in every interval, nothing runs backwards, all hosts are on the clock.
ClockSolution expect_truth(const SimulatedCluster& cluster) {
    SCOPED_TRACE("seed " + std::to_string(cluster.options().seed));
    ClockSolution solution = filled_clock(cluster).solve();
    const Widths widths = check_truth(cluster, solution, kInstants);
    EXPECT_EQ(widths.outside, 0U) << "by up to " << widths.worst_ns << " ns";
    EXPECT_EQ(widths.unbounded, 0U);
    EXPECT_EQ(inversions(cluster, solution), 0U);
    EXPECT_EQ(solution.inversions, 0U);
    EXPECT_EQ(solution.contradictions, 0U);
    return solution;
}

TEST(ClusterClock, holds_the_truth_of_two_hosts_with_steady_clocks) {
    for (std::uint64_t seed = 1; seed <= seeds(5); ++seed) {
        expect_truth(SimulatedCluster({.seed = seed, .wander_per_s = 0}));
    }
}

TEST(ClusterClock, holds_the_truth_of_clocks_that_wander) {
    for (std::uint64_t seed = 1; seed <= seeds(5); ++seed) {
        expect_truth(
            SimulatedCluster({.seed = seed, .duration_ns = 60'000'000'000, .messages_per_s = 50}));
    }
}

TEST(ClusterClock, carries_bounds_along_a_chain) {
    for (std::uint64_t seed = 1; seed <= seeds(3); ++seed) {
        expect_truth(SimulatedCluster({.seed = seed, .hosts = 12, .links = chain(12)}));
    }
}

TEST(ClusterClock, holds_the_truth_of_stars_and_random_graphs) {
    for (std::uint64_t seed = 1; seed <= seeds(3); ++seed) {
        expect_truth(
            SimulatedCluster({.seed = seed, .hosts = 30, .links = star(30), .messages_per_s = 50}));
        expect_truth(SimulatedCluster({.seed = seed,
                                       .hosts = 30,
                                       .links = random_links(30, 30, seed),
                                       .messages_per_s = 50}));
    }
}

TEST(ClusterClock, holds_the_truth_of_a_thousand_hosts) {
    expect_truth(SimulatedCluster(
        {.seed = 1, .hosts = 1000, .links = random_links(1000, 1000, 1), .messages_per_s = 5}));
}

TEST(ClusterClock, needs_both_directions_of_a_ring_only) {
    for (std::uint64_t seed = 1; seed <= seeds(3); ++seed) {
        Links ring = chain(5);
        ring.push_back({4, 0});
        expect_truth(
            SimulatedCluster({.seed = seed, .hosts = 5, .links = ring, .both_ways = false}));
    }
}

// The first host is the reference as long as it is not the one that steps.
void expect_step(const SimulatedStep& step,
                 std::uint32_t hosts,
                 const Links& links,
                 std::uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const SimulatedCluster cluster({.seed = seed, .hosts = hosts, .links = links, .steps = {step}});
    const ClockSolution solution = filled_clock(cluster).solve();
    const Widths widths = check_truth(cluster, solution, kInstants);
    EXPECT_EQ(widths.outside, 0U) << "by up to " << widths.worst_ns << " ns";
    EXPECT_EQ(inversions(cluster, solution), 0U);
    EXPECT_EQ(solution.contradictions, 0U);
    ASSERT_EQ(solution.steps.size(), 1U);
    const std::int64_t missing = step.asleep_ns - step.ahead_ns;
    EXPECT_NEAR(static_cast<double>(solution.steps[0].missing_ns),
                static_cast<double>(missing),
                300e3 + 0.01 * static_cast<double>(step.asleep_ns));
}

TEST(ClusterClock, finds_a_host_that_was_suspended) {
    for (std::uint64_t seed = 1; seed <= seeds(5); ++seed) {
        expect_step(
            {.host = 1, .at_ns = 9'300'000'000, .asleep_ns = 4'000'000'000}, 2, chain(2), seed);
        expect_step({.host = 3, .at_ns = 9'300'000'000, .asleep_ns = 4'000'000'000},
                    6,
                    random_links(6, 6, seed),
                    seed);
    }
}

TEST(ClusterClock, finds_a_clock_that_jumped_ahead) {
    for (std::uint64_t seed = 1; seed <= seeds(5); ++seed) {
        expect_step(
            {.host = 1, .at_ns = 9'300'000'000, .ahead_ns = 86'400'000'000'000}, 2, chain(2), seed);
        expect_step({.host = 3, .at_ns = 9'300'000'000, .ahead_ns = 5'000'000},
                    6,
                    random_links(6, 6, seed),
                    seed);
    }
}

// Six hosts, every one but the first is suspended, and later jumps ahead.
TEST(ClusterClock, survives_many_steps) {
    for (std::uint64_t seed = 1; seed <= seeds(5); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::vector<SimulatedStep> steps;
        for (std::uint32_t host = 1; host < 6; ++host) {
            const std::int64_t at = 2'000'000'000 + static_cast<std::int64_t>(host) * 1'500'000'000;
            steps.push_back({.host = host, .at_ns = at, .asleep_ns = 700'000'000});
            steps.push_back({.host = host, .at_ns = at + 9'000'000'000, .ahead_ns = 40'000'000});
        }
        const SimulatedCluster cluster(
            {.seed = seed, .hosts = 6, .links = random_links(6, 8, seed), .steps = steps});
        const ClockSolution solution = filled_clock(cluster).solve();
        const Widths widths = check_truth(cluster, solution, kInstants);
        EXPECT_EQ(widths.outside, 0U) << "by up to " << widths.worst_ns << " ns";
        EXPECT_EQ(inversions(cluster, solution), 0U);
        EXPECT_GE(solution.steps.size(), 8U);
    }
}

// Few messages, and hosts that only one other reaches, which may be the one that sleeps.
TEST(ClusterClock, holds_the_truth_around_steps_of_sparse_clusters) {
    for (std::uint64_t seed = 1; seed <= seeds(3); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const SimulatedCluster cluster(
            {.seed = seed,
             .hosts = 20,
             .links = random_links(20, 10, seed),
             .messages_per_s = 20,
             .steps = {{.host = 5, .at_ns = 7'000'000'000, .asleep_ns = 3'000'000'000},
                       {.host = 9, .at_ns = 12'000'000'000, .ahead_ns = 2'000'000}}});
        const ClockSolution solution = filled_clock(cluster).solve();
        const Widths widths = check_truth(cluster, solution, 2 * kInstants);
        EXPECT_EQ(widths.outside, 0U) << "by up to " << widths.worst_ns << " ns";
        EXPECT_EQ(solution.steps.size(), 2U);
        EXPECT_EQ(inversions(cluster, solution), 0U) << solution.inversions << " known";
    }
}

// Taken in piece by piece and asked in between, the end is the same.
TEST(ClusterClock, tells_live_what_it_tells_afterwards) {
    const SimulatedCluster cluster({.seed = 3, .hosts = 6, .links = random_links(6, 6, 3)});
    analysis::ClusterClock clock = clock_of(cluster);
    std::int64_t now = 0, width_before = 0;
    for (std::size_t i = 0; i < cluster.messages().size(); ++i) {
        clock.add(cluster.messages()[i]);
        if (i == cluster.messages().size() / 20) {
            const ClockSolution early = clock.solve();
            now = cluster.clock(4, cluster.sent_at()[i]);
            const analysis::ClusterTime told =
                early.maps[4].at(base::Instant(base::HostClock{4}, now));
            width_before = told.latest - told.earliest;
            const std::int64_t truth = cluster.clock(early.reference, cluster.sent_at()[i]) +
                                       cluster.wall_offset(early.reference);
            EXPECT_LE(told.earliest.ns(), truth);
            EXPECT_GE(told.latest.ns(), truth);
        }
    }
    const ClockSolution live = clock.solve(), afterwards = filled_clock(cluster).solve();
    for (std::uint32_t host = 0; host < 6; ++host) {
        const base::Instant<base::HostClock> at(base::HostClock{host},
                                                cluster.clock(host, 7'000'000'000));
        EXPECT_EQ(live.maps[host].at(at).time, afterwards.maps[host].at(at).time);
        EXPECT_EQ(live.maps[host].at(at).earliest, afterwards.maps[host].at(at).earliest);
    }
    const analysis::ClusterTime told = live.maps[4].at(base::Instant(base::HostClock{4}, now));
    EXPECT_LT(told.latest - told.earliest, width_before);
}

analysis::ClockMessage message(std::uint32_t from,
                               std::int64_t sent,
                               std::uint32_t to,
                               std::int64_t received) {
    return {base::Instant(base::HostClock{from}, sent),
            base::Instant(base::HostClock{to}, received)};
}

analysis::ClusterClock two_hosts() {
    analysis::ClusterClock clock;
    clock.add_host({.host = 4, .wall_offset_ns = 1000});
    clock.add_host({.host = 9, .wall_offset_ns = 2000});
    return clock;
}

TEST(ClusterClock, gives_wall_time_to_hosts_that_never_speak) {
    analysis::ClusterClock clock = two_hosts();
    const ClockSolution solution = clock.solve();
    const analysis::ClusterTime told = solution.maps[1].at(base::Instant(base::HostClock{9}, 500));
    EXPECT_FALSE(told.is_bounded);
    EXPECT_EQ(told.time.ns(), 2500);
}

TEST(ClusterClock, keeps_one_message_in_order_and_says_that_it_bounds_nothing) {
    analysis::ClusterClock clock = two_hosts();
    clock.add(
        message(9,
                5'000'000,
                4,
                1'000'000));  // by wall time it was received four milliseconds before it was sent
    const ClockSolution solution = clock.solve();
    const analysis::ClusterTime sent =
        solution.maps[1].at(base::Instant(base::HostClock{9}, 5'000'000));
    const analysis::ClusterTime received =
        solution.maps[0].at(base::Instant(base::HostClock{4}, 1'000'000));
    EXPECT_LE(sent.time, received.time);
    EXPECT_NE(sent.is_bounded, received.is_bounded) << "one is the reference";
}

TEST(ClusterClock, is_not_dated_by_a_machine_that_believes_it_is_1970) {
    constexpr std::int64_t kToday = 1'790'000'000 * kSecond;
    analysis::ClusterClock clock;
    clock.add_host({.host = 4, .wall_offset_ns = 0, .first_ns = kSecond, .last_ns = 2 * kSecond});
    clock.add_host(
        {.host = 9, .wall_offset_ns = kToday, .first_ns = kSecond, .last_ns = 2 * kSecond});
    for (std::int64_t at = kSecond; at < 2 * kSecond; at += kSecond / 10) {
        clock.add(message(4, at, 9, at + 50'000));
        clock.add(message(9, at, 4, at + 50'000));
    }
    const ClockSolution solution = clock.solve();
    EXPECT_EQ(solution.reference, 9U);
    const auto told = solution.maps[0].at(base::Instant(base::HostClock{4}, kSecond));
    EXPECT_NEAR(static_cast<double>(told.time.ns() - kToday), kSecond, 100e3);
}

TEST(ClusterClock, takes_messages_of_the_same_times) {
    analysis::ClusterClock clock = two_hosts();
    for (int i = 0; i < 100; ++i) {
        clock.add(message(4, 1'000, 9, 1'000));
        clock.add(message(9, 1'000, 4, 1'000));
    }
    const ClockSolution solution = clock.solve();
    EXPECT_EQ(solution.contradictions, 0U);
    const analysis::ClusterTime told =
        solution.maps[1].at(base::Instant(base::HostClock{9}, 1'000));
    EXPECT_TRUE(told.is_bounded);
    EXPECT_NEAR(static_cast<double>(told.time.ns()), 2'000, 2);
    EXPECT_LE(told.latest - told.earliest, 4);
}

TEST(ClusterClock, bounds_one_side_with_messages_in_one_direction) {
    const SimulatedCluster cluster({.seed = 2, .both_ways = false});
    const ClockSolution solution = filled_clock(cluster).solve();
    EXPECT_EQ(inversions(cluster, solution), 0U);
    EXPECT_EQ(check_truth(cluster, solution, kInstants).unbounded,
              static_cast<std::uint64_t>(kInstants));
}

// A message that was matched wrongly: received seconds before it was sent.
TEST(ClusterClock, reports_messages_that_contradict_all_others) {
    const SimulatedCluster cluster({.seed = 5});
    analysis::ClusterClock clock = clock_of(cluster);
    for (std::size_t i = 0; i < cluster.messages().size(); ++i) {
        const analysis::ClockMessage& good = cluster.messages()[i];
        clock.add(good);
        if (i == 3000 || i == 5000) {
            clock.add({good.sent, good.received - 3'000'000'000});
        }
    }
    const ClockSolution solution = clock.solve();
    EXPECT_EQ(solution.contradictions, 2U);
    ASSERT_EQ(solution.contradicting.size(), 2U);
    EXPECT_EQ(solution.contradicting[0].sent, cluster.messages()[3000].sent);
    EXPECT_EQ(solution.steps.size(), 0U);
    EXPECT_EQ(check_truth(cluster, solution, kInstants).outside, 0U);
    EXPECT_EQ(inversions(cluster, solution), 0U);
}

// Three hosts that speak in a circle, each message before the last: no pair sees it.
TEST(ClusterClock, reports_a_circle_that_no_clocks_allow) {
    analysis::ClusterClock clock;
    for (const std::uint32_t host : {0U, 1U, 2U}) {
        clock.add_host({.host = host});
    }
    for (std::int64_t i = 0; i < 10; ++i) {
        const std::int64_t at = i * 1'000'000;
        clock.add(message(0, at, 1, at + 100));
        clock.add(message(1, at, 2, at + 100));
        clock.add(message(2, at, 0, at - 5'000'000));
    }
    const ClockSolution solution = clock.solve();
    EXPECT_GT(solution.contradictions, 0U);
}

// What is kept does not grow with the messages.
TEST(ClusterClock, keeps_corners_instead_of_messages) {
    const SimulatedCluster cluster(
        {.seed = 1, .duration_ns = 50'000'000'000, .messages_per_s = 1000});
    const analysis::ClusterClock clock = filled_clock(cluster);
    EXPECT_GT(cluster.messages().size(), 80'000U);
    EXPECT_LT(clock.corners(), 500U);
}

}  // namespace
}  // namespace dyetrace::simulation
