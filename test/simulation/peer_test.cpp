// Beside the peer, on the same messages. Its figures are in docs/clock.md.

#include <gtest/gtest.h>

#include "cluster_checks.h"
#include "incremental_hull.h"
#include "simulated_cluster.h"

namespace dyetrace::simulation {
namespace {

using base::HostClock;
using base::Instant;

constexpr int kPeerInstants = 1000;

IncrementalHull hull_of(const SimulatedCluster& cluster) {
    IncrementalHull hull;
    for (const analysis::ClockMessage& message : cluster.messages()) {
        if (message.sent.clock().host == 0) {
            hull.add_above(message.sent.ns(), message.received.ns());
        } else {
            hull.add_below(message.received.ns(), message.sent.ns());
        }
    }
    return hull;
}

// All straight lines that its two hulls leave room for: what may be said of an instant, if the rate never changes.
analysis::Corridor lines_of(const SimulatedCluster& cluster, std::int64_t x0, std::int64_t y0) {
    analysis::Corridor lines(1e-3, 0);
    for (const analysis::ClockMessage& message : cluster.messages()) {
        const bool is_above = message.sent.clock().host == 0;
        const std::int64_t x = (is_above ? message.sent : message.received).ns() - x0,
                           y = (is_above ? message.received : message.sent).ns() - y0;
        const auto at = static_cast<double>(x), offset = static_cast<double>(y - x);
        is_above ? lines.keep_below(at, offset) : lines.keep_above(at, offset);
    }
    return lines;
}

// Sums up one method, over the instants of a run.
class Tally {
  public:
    void add(double low, double high, double truth) {
        widths_.push_back(high - low);
        errors_.push_back(std::abs((low + high) / 2 - truth));
        inside_ += low <= truth && truth <= high;
    }
    double width_us() const { return median(widths_) / 1e3; }
    double error_us() const { return median(errors_) / 1e3; }
    double inside() const {
        return widths_.empty() ? 0 : inside_ / static_cast<double>(widths_.size());
    }

    static double median(std::vector<double> values) {
        std::sort(values.begin(), values.end());
        return values.empty() ? 0 : values[values.size() / 2];
    }

  private:
    std::vector<double> widths_, errors_;
    double inside_ = 0;
};

struct Comparison {
    Tally ours, peer, lines;
};

Comparison compare(const SimulatedCluster& cluster) {
    const analysis::ClockSolution solution = filled_clock(cluster).solve();
    EXPECT_EQ(solution.reference, 0U);
    const std::int64_t x0 = cluster.clock(0, 0), y0 = cluster.clock(1, 0),
                       wall = cluster.wall_offset(0);
    const IncrementalHull hull = hull_of(cluster);
    const analysis::Corridor lines = lines_of(cluster, x0, y0);
    Comparison made;
    for (int i = 0; i < kPeerInstants; ++i) {
        const std::int64_t t = cluster.options().duration_ns / kPeerInstants * i;
        if (cluster.is_asleep(1, t)) {
            continue;
        }
        const std::int64_t x = cluster.clock(0, t), y = cluster.clock(1, t);
        const analysis::ClusterTime told = solution.maps[1].at(Instant(HostClock{1}, y));
        const auto shift = [&](Instant<base::ClusterClock> instant) {
            return static_cast<double>(instant.ns() - x - wall);
        };
        made.ours.add(shift(told.earliest), shift(told.latest), 0);
        if (const auto bounds = hull.at(x); bounds.has_value()) {
            made.peer.add(bounds->low, bounds->high, static_cast<double>(y - x));
        }
        const analysis::Corridor::Range range = lines.at(static_cast<double>(x - x0));
        made.lines.add(range.is_torn ? 0 : range.low,
                       range.is_torn ? -1 : range.high,
                       static_cast<double>((y - y0) - (x - x0)));
    }
    return made;
}

struct Case {
    const char* name;
    SimulationOptions options;
};

std::vector<Case> cases() {
    return {
        {"steady, 20 s, 200/s", {.wander_per_s = 0}},
        {"steady, 300 s, 20/s",
         {.duration_ns = 300'000'000'000, .messages_per_s = 20, .wander_per_s = 0}},
        {"wanders, 20 s, 200/s", {}},
        {"wanders, 60 s, 50/s", {.duration_ns = 60'000'000'000, .messages_per_s = 50}},
        {"wanders, 300 s, 20/s", {.duration_ns = 300'000'000'000, .messages_per_s = 20}},
        {"wanders, 300 s, 1/s", {.duration_ns = 300'000'000'000, .messages_per_s = 1}},
        {"asleep 2 s, 60 s, 50/s",
         {.duration_ns = 60'000'000'000,
          .messages_per_s = 50,
          .steps = {{.host = 1, .at_ns = 25'000'000'000, .asleep_ns = 2'000'000'000}}}},
    };
}

TEST(Peer, is_outside_the_truth_where_it_is_narrower) {
    constexpr std::uint64_t kSeeds = 5;
    std::printf("%-24s %9s %9s %9s %9s %9s %9s %9s %9s\n",
                "median of seeds 1 to 5",
                "ours us",
                "inside",
                "error us",
                "peer us",
                "inside",
                "error us",
                "lines us",
                "inside");
    for (const Case& one : cases()) {
        std::vector<double> columns[8];
        for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
            SimulationOptions options = one.options;
            options.seed = seed;
            const Comparison made = compare(SimulatedCluster(options));
            EXPECT_EQ(made.ours.inside(), 1) << one.name << ", seed " << seed;
            EXPECT_TRUE(made.peer.width_us() > made.ours.width_us() || made.peer.inside() < 1)
                << one.name << ", seed " << seed;
            if (made.lines.inside() == 1) {
                EXPECT_LT(made.ours.width_us(), 1.25 * made.lines.width_us())
                    << one.name << ", seed " << seed;
            }
            const double row[] = {made.ours.width_us(),
                                  made.ours.inside(),
                                  made.ours.error_us(),
                                  made.peer.width_us(),
                                  made.peer.inside(),
                                  made.peer.error_us(),
                                  made.lines.width_us(),
                                  made.lines.inside()};
            for (std::size_t i = 0; i < std::size(row); ++i) {
                columns[i].push_back(row[i]);
            }
        }
        std::printf("%-24s", one.name);
        for (const auto& column : columns) {
            std::printf(" %9.3f", Tally::median(column));
        }
        std::printf("\n");
    }
}

}  // namespace
}  // namespace dyetrace::simulation
