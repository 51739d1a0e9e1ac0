// The parts of one clock, each against what can be found by trying. Whole clusters are in test/simulation.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "analysis/clock/clock_map.h"
#include "analysis/clock/clock_pieces.h"
#include "analysis/clock/corridor.h"
#include "analysis/clock/instant_graph.h"
#include "analysis/clock/map_repair.h"

namespace dyetrace::analysis {
namespace {

constexpr double kBend = 1e-10;

struct Point {
    double at, height;
};

std::vector<Point> points(std::mt19937_64& random, std::size_t count, double low, double high) {
    std::uniform_real_distribution<double> at(0, 1e6), height(low, high);
    std::vector<Point> made(count);
    for (Point& point : made) {
        point = {std::floor(at(random)), height(random)};
    }
    return made;
}

// The greatest height at `middle` that curves with this slope there can have below all points.
double by_trying(const std::vector<Point>& all, double middle, double slope) {
    double least = Ceiling::kOpen;
    for (const Point& point : all) {
        const double apart = point.at - middle;
        least = std::min(least, point.height + kBend / 2 * apart * apart - slope * apart);
    }
    return least;
}

TEST(Ceiling, needs_its_corners_only) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        std::mt19937_64 random(seed);
        const std::vector<Point> all = points(random, 300, 0, 100);
        Ceiling ceiling(kBend);
        for (const Point& point : all) {
            ceiling.add(point.at, point.height);
        }
        EXPECT_LT(ceiling.corners().size(), 60U);
        for (double middle = -1e5; middle < 1.2e6; middle += 77'777) {
            for (const double slope : {-1e-3, -1e-5, 0.0, 1e-4}) {
                EXPECT_NEAR(
                    ceiling.touch(middle, slope).height, by_trying(all, middle, slope), 1e-6)
                    << "seed " << seed;
            }
        }
    }
}

TEST(Ceiling, says_what_it_left_out_when_it_is_full) {
    Ceiling ceiling(2e-4);  // each point of a flat row is a corner
    for (std::size_t i = 0; i <= Ceiling::kCornersMax; ++i) {
        ceiling.add(static_cast<double>(i), 50);
    }
    EXPECT_LE(ceiling.corners().size(), Ceiling::kCornersMax / 2 + 2);
    EXPECT_NEAR(
        ceiling.margin(), 1e-4, 1e-9);  // half the bend times the distance to either neighbour
    EXPECT_EQ(ceiling.corners().front().at, 0);
    EXPECT_EQ(ceiling.corners().back().at, Ceiling::kCornersMax);
}

TEST(Corridor, is_as_wide_as_the_curves_that_fit) {
    constexpr double kSlopeMax = 1e-4;
    for (unsigned seed = 1; seed <= 10; ++seed) {
        std::mt19937_64 random(seed);
        const std::vector<Point> above = points(random, 40, 10, 100),
                                 below = points(random, 40, 10, 100);
        Corridor corridor(kSlopeMax, kBend);
        for (const Point& point : above) {
            corridor.keep_below(point.at, point.height);
        }
        for (const Point& point : below) {
            corridor.keep_above(point.at, -point.height);
        }
        for (double middle = -5e5; middle < 1.5e6; middle += 123'456) {
            double high = -Ceiling::kOpen;
            for (double slope = -kSlopeMax; slope <= kSlopeMax; slope += kSlopeMax / 2000) {
                const double top = by_trying(above, middle, slope),
                             bottom = -by_trying(below, middle, -slope);
                high = top >= bottom ? std::max(high, top) : high;
            }
            double reach = Ceiling::kOpen;  // as the slope is bounded on the way, too
            for (const Point& point : above) {
                reach = std::min(reach, point.height + kSlopeMax * std::abs(point.at - middle));
            }
            const Corridor::Range range = corridor.at(middle);
            EXPECT_FALSE(range.is_torn);
            EXPECT_GE(range.high, std::min(high, reach) - 1e-6)
                << "seed " << seed << " at " << middle;
            EXPECT_LE(range.high, high + 0.2) << "seed " << seed << " at " << middle;
        }
    }
}

TEST(Corridor, is_torn_where_nothing_fits) {
    Corridor corridor(1e-4, kBend);
    corridor.keep_below(1000, 5);
    corridor.keep_above(1000, 8);
    const Corridor::Range range = corridor.at(1000);
    EXPECT_TRUE(range.is_torn);
    EXPECT_NEAR(range.low, 5, 1e-6);
    EXPECT_NEAR(range.high, 8, 1e-6);
}

TEST(InstantGraph, carries_bounds_along_the_best_path) {
    InstantGraph graph(3, {{0, 1, 2}, {1, 2, 1}, {0, 2, 7}, {2, 0, 5}});
    EXPECT_EQ(graph.greatest({InstantGraph::kFree, InstantGraph::kFree, 0}),
              (std::vector<double>{3, 1, 0}));
    EXPECT_EQ(graph.least({0, -InstantGraph::kFree, -InstantGraph::kFree}),
              (std::vector<double>{0, -2, -3}));
    EXPECT_EQ(graph.contradictions(), 0U);
}

TEST(InstantGraph, gives_way_where_a_circle_contradicts_itself) {
    InstantGraph graph(3, {{0, 1, -2}, {1, 0, 1}, {1, 2, 3}, {2, 1, 3}});
    const std::vector<double> values =
        graph.greatest({0, InstantGraph::kFree, InstantGraph::kFree});
    EXPECT_EQ(graph.contradictions(), 1U);
    EXPECT_TRUE(std::all_of(
        values.begin(), values.end(), [](double value) { return std::isfinite(value); }));
}

ClusterTime ask(const ClockMap& map, std::int64_t at) {
    return map.at(base::Instant(base::HostClock{1}, at));
}

TEST(ClockMap, is_straight_between_knots_and_gets_wider_outside) {
    const ClockMap map({1}, {{1000, 5000, 10, 20}, {2000, 6100, 30, 40}}, 0.01, 0);
    EXPECT_EQ(ask(map, 1500).time.ns(), 5550);
    EXPECT_EQ(ask(map, 1500).earliest.ns(), 5550 - 20 - 1);
    EXPECT_EQ(ask(map, 1500).latest.ns(), 5550 + 30 + 1);
    EXPECT_EQ(ask(map, 3000).time.ns(), 7100);
    EXPECT_EQ(ask(map, 3000).latest.ns(), 7100 + 40 + 10 + 1);
    EXPECT_EQ(ask(map, 0).time.ns(), 4000);
    EXPECT_TRUE(ask(map, 0).is_bounded);
}

TEST(ClockMap, knows_no_interval_of_a_host_that_is_not_bounded) {
    const ClockMap map({1}, {{1000, 5000, InstantGraph::kFree, 20}, {2000, 6000, 30, 40}}, 0.01, 0);
    EXPECT_FALSE(ask(map, 1500).is_bounded);
    EXPECT_FALSE(ask(map, 10).is_bounded);
    EXPECT_TRUE(ask(map, 2500).is_bounded);
}

TEST(ClockPieces, say_what_the_map_says_that_they_are_of) {
    const ClockMap map({4},
                       {{1000, 5000, 10, 20},
                        {2'000'000'000, 2'000'006'100, 30, 40},
                        {3'000'000'000, 3'000'009'000, 1, 2}},
                       0.01,
                       1e-7);
    ClockPieces pieces;
    for (const ClockPiece& piece : map.pieces(500, 3'500'000'000)) {
        pieces.add({4}, piece);
    }
    for (const std::int64_t at :
         {500L, 1000L, 1'234'567L, 2'000'000'000L, 2'999'999'999L, 3'500'000'000L}) {
        const base::Instant<base::HostClock> instant({4}, at);
        const ClusterTime expected = map.at(instant), found = pieces.at(instant).value();
        EXPECT_EQ(found.time, expected.time) << at;
        EXPECT_LE(found.earliest, expected.earliest) << at;
        EXPECT_GE(found.latest, expected.latest) << at;
        EXPECT_LE(expected.earliest - found.earliest, 2) << at;
        EXPECT_LE(found.latest - expected.latest, 2) << at;
        EXPECT_TRUE(found.is_bounded) << at;
    }
    EXPECT_FALSE(pieces.at({{4}, 499}).value().is_bounded);
    EXPECT_FALSE(pieces.at({{4}, 3'500'000'001}).value().is_bounded);
    EXPECT_FALSE(pieces.at({{5}, 1000}).has_value());
}

TEST(ClockMap, has_no_piece_before_its_host_was_started) {
    const ClockMap map({4},
                       {{-3'000'000'000, 1'000'000'000, 10, 10},
                        {-1'000'000'000, 3'000'000'100, 20, 30},
                        {1'000'000'000, 5'000'000'400, 40, 10}},
                       0.01,
                       1e-7);
    const std::vector<ClockPiece> pieces = map.pieces(0, 2'000'000'000);
    ASSERT_EQ(pieces.size(), 2u);
    EXPECT_EQ(pieces[0].from_ns, 0);
    EXPECT_EQ(pieces[0].to_ns, 1'000'000'000);
    EXPECT_EQ(pieces[0].cluster_ns, 4'000'000'250);
    EXPECT_EQ(pieces[0].cluster_to_ns, 5'000'000'400);
    const ClusterTime expected = map.at({{4}, 0});
    EXPECT_EQ(expected.time.ns(), pieces[0].cluster_ns);
    EXPECT_GE(static_cast<double>(pieces[0].cluster_ns) + pieces[0].above_ns + 1,
              static_cast<double>(expected.latest.ns()));
    EXPECT_LE(static_cast<double>(pieces[0].cluster_ns) - pieces[0].below_ns - 1,
              static_cast<double>(expected.earliest.ns()));
}

TEST(MapRepair, gives_way_on_both_sides_of_a_message) {
    std::vector<std::vector<ClockKnot>> knots = {{{0, 0, 50, 50}, {1000, 1000, 50, 50}},
                                                 {{0, 0, 50, 50}, {1000, 1000, 50, 50}}};
    MapRepair repair(knots, 7);
    EXPECT_EQ(repair.run({{0, 1, 500, 480, 0}}), 0U);
    EXPECT_LT(knots[0][0].cluster_ns, 0);
    EXPECT_GT(knots[1][1].cluster_ns, 1000);
    EXPECT_EQ(repair.moved().size(), 4U);
}

TEST(MapRepair, tells_what_no_map_within_the_intervals_keeps) {
    std::vector<std::vector<ClockKnot>> knots = {{{0, 0, 5, 5}}, {{0, 0, 5, 5}}};
    EXPECT_EQ(MapRepair(knots, 0).run({{0, 1, 500, 480, 0}}), 1U);
    EXPECT_EQ(knots[1][0].above_ns, 0) << "as far as it goes";
}

}  // namespace
}  // namespace dyetrace::analysis
