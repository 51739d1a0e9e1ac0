// Random lanes, looked at through random windows, against what comes out of looking at each event for each pixel.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>

#include "api/timeline/timeline_index.h"

namespace dyetrace::api {
namespace {

constexpr std::uint64_t kOracleBegin = 1'700'000'000'000'000'000;

struct Drawn {
    double busy = 0;  // in all of the window, in pixels
    double work = 0, ran = 0;
    std::uint64_t events = 0;
    std::uint32_t flags = 0;
    std::uint32_t colours = 0;  // a bit each
};

using Events = std::vector<TimelineEvent>;

class RandomLane {
  public:
    explicit RandomLane(std::uint64_t seed) : random_(seed) {}

    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
    // A time between a nanosecond and a quarter of an hour; short ones come most often.
    std::uint64_t some_time() { return below(std::uint64_t{1} << (1 + below(40))); }

    // One call comes after the other, and now and then one inside another, as a signal is.
    Events events(std::size_t count) {
        Events events;
        std::uint64_t now = kOracleBegin + some_time();
        for (std::uint64_t id = 1; id <= count; ++id) {
            const std::uint64_t duration = below(8) == 0 ? 0 : some_time() / 16;
            events.push_back({.begin_ns = now,
                              .end_ns = now + duration,
                              .id = id,
                              .call_class = static_cast<std::uint8_t>(below(9)),
                              .content = static_cast<std::uint8_t>(below(kContents + 1)),
                              .waited = static_cast<double>(below(64)) / 63,
                              .is_error = below(50) == 0,
                              .is_unfinished = below(500) == 0});
            now += below(16) == 0 ? duration / 2 : duration + (below(3) == 0 ? 0 : some_time() / 8);
        }
        return events;
    }

    TimeWindow window(const Events& events) {
        const TimelineEvent& at = events[below(events.size())];
        const std::uint64_t before = some_time(), after = 1 + some_time();
        return {.from_ns = at.begin_ns - before,
                .to_ns = at.begin_ns + after,
                .width = static_cast<std::uint32_t>(1 + below(300))};
    }

    // The lane is told of them in any order.
    Lane lane(Events events) {
        std::shuffle(events.begin(), events.end(), random_);
        Lane lane;
        for (const TimelineEvent& event : events) {
            lane.add(event);
        }
        lane.finish();
        return lane;
    }

  private:
    std::mt19937_64 random_;
};

// What each pixel must show of a thread: events that are not slices.
std::vector<Drawn> by_looking_at_each(const Events& events, const TimeWindow& window) {
    std::vector<Drawn> pixels(window.width);
    for (const TimelineEvent& each : events) {
        const LaneEvent event(each);
        const double begin = window.position(event.begin_ns()),
                     end = window.position(event.end_ns());
        if (!window.touches(event.begin_ns(), event.end_ns()) || end - begin >= 1) {
            continue;
        }
        for (std::uint32_t x = 0; x < window.width; ++x) {
            const double share = std::min(end, x + 1.0) - std::max(begin, static_cast<double>(x));
            const bool begins =
                x == std::min(static_cast<std::uint32_t>(std::max(begin, 0.0)), window.width - 1);
            if (share > 0 || begins) {
                pixels[x].busy += std::max(share, 0.0);
                pixels[x].work += event.is_work() ? std::max(share, 0.0) : 0;
                pixels[x].ran += event.is_work() ? std::max(share, 0.0) * (1 - event.waited()) : 0;
                pixels[x].flags |= event.is_work() ? TimelineRun::kWork : 0;
                pixels[x].colours |= 1u << event.colour(TimelineColour::kContent);
            }
            pixels[x].events += begins ? 1 : 0;
            pixels[x].flags |= begins ? event_flags(event) : std::uint8_t{0};
        }
    }
    return pixels;
}

void expect_height(std::uint8_t height, double share) {
    EXPECT_NEAR(height / 255.0, std::clamp(share, 0.0, 1.0), 1.0 / 32 + 1e-3);
}

void expect_summed_run(const TimelineRun& run, const std::vector<Drawn>& pixels) {
    Drawn all;
    for (auto x = static_cast<std::size_t>(run.x0); x < static_cast<std::size_t>(run.x1); ++x) {
        const double least = (pixels[x].flags & TimelineRun::kWork) != 0 ? 0.25 : 0;
        expect_height(run.fill, std::max({pixels[x].busy, least, 1.0 / 32}));
        expect_height(run.work, std::max(pixels[x].work, least));
        expect_height(run.ran, pixels[x].ran);
        EXPECT_EQ(run.flags, pixels[x].flags) << x;
        EXPECT_NE(pixels[x].colours & (1u << run.colour), 0u) << x;
        all.events += pixels[x].events;
    }
    EXPECT_EQ(run.count, all.events);
}

TEST(TimelineOracle, a_thread_is_drawn_as_looking_at_each_event_would_draw_it) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        RandomLane random(seed);
        const Events events = random.events(1 + random.below(3000));
        const Lane lane = random.lane(events);
        for (int i = 0; i < 5; ++i) {
            SCOPED_TRACE(testing::Message() << "seed " << seed << " window " << i);
            const TimeWindow window = random.window(events);
            const std::vector<Drawn> pixels = by_looking_at_each(events, window);
            PixelRow row(window, TimelineColour::kContent, 1);
            lane.draw(row);
            const std::vector<TimelineRun> runs = row.runs();
            std::uint64_t slices = 0, counted = 0;
            for (const TimelineRun& run : runs) {
                if ((run.flags & TimelineRun::kSingle) == 0) {
                    expect_summed_run(run, pixels);
                    counted += run.count;
                    continue;
                }
                const LaneEvent event(events.at(run.event - 1));
                EXPECT_NEAR(run.x0, std::max(window.position(event.begin_ns()), -1.0), 1e-3);
                EXPECT_NEAR(
                    run.x1, std::min(window.position(event.end_ns()), window.width + 1.0), 1e-3);
                EXPECT_EQ(run.colour, event.colour(TimelineColour::kContent));
                const bool is_slice =
                    window.position(event.end_ns()) - window.position(event.begin_ns()) >= 1;
                slices += is_slice ? 1 : 0;
                counted += is_slice ? 0 : 1;
            }
            std::uint64_t expected_slices = 0, expected_counted = 0;
            for (const TimelineEvent& each : events) {
                const LaneEvent event(each);
                const bool is_slice =
                    window.position(event.end_ns()) - window.position(event.begin_ns()) >= 1;
                if (window.touches(event.begin_ns(), event.end_ns())) {
                    ++(is_slice ? expected_slices : expected_counted);
                }
            }
            EXPECT_EQ(slices, expected_slices);
            EXPECT_EQ(counted, expected_counted);
            EXPECT_TRUE(std::is_sorted(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
                return a.x0 < b.x0;
            }));
        }
    }
}

std::vector<double> busy_threads(const std::vector<TimelineRun>& runs,
                                 const TimeWindow& window,
                                 double threads) {
    std::vector<double> busy(window.width);
    for (const TimelineRun& run : runs) {
        for (auto x = static_cast<std::size_t>(run.x0); x < static_cast<std::size_t>(run.x1); ++x) {
            busy[x] = std::exp2(run.fill / 255.0 * std::log2(1 + threads)) - 1;
        }
    }
    return busy;
}

bool are_same(const std::vector<TimelineRun>& a, const std::vector<TimelineRun>& b) {
    return std::ranges::equal(a, b, [](const TimelineRun& x, const TimelineRun& y) {
        return std::tie(x.x0, x.x1, x.count, x.colour, x.fill, x.work, x.ran, x.flags, x.event) ==
               std::tie(y.x0, y.x1, y.count, y.colour, y.fill, y.work, y.ran, y.flags, y.event);
    });
}

bool look_the_same(const Lane& a, const Lane& b, const TimeWindow& window) {
    const auto runs = [&](const Lane& lane) {
        PixelRow row(window, TimelineColour::kContent, 1);
        lane.draw(row);
        return row.runs();
    };
    return are_same(runs(a), runs(b));
}

TEST(TimelineOracle, a_lane_that_was_added_to_is_the_one_that_was_told_all_at_once) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        RandomLane random(seed);
        const Events events = random.events(1 + random.below(2000));
        Lane grown;
        for (std::size_t i = 0; i < events.size();) {
            const Lane before = grown;
            const std::size_t held = before.events().size();
            // Now and then what began earlier comes later.
            const std::size_t end = std::min(events.size(), i + 1 + random.below(400));
            Events added(events.begin() + static_cast<std::ptrdiff_t>(i),
                         events.begin() + static_cast<std::ptrdiff_t>(end));
            if (random.below(4) == 0) {
                added.front().begin_ns =
                    std::max(kOracleBegin, added.front().begin_ns - random.some_time());
            }
            for (const TimelineEvent& event : added) {
                grown.add(event);
            }
            grown.finish();
            i = end;
            EXPECT_EQ(before.events().size(), held);
            Lane fresh;
            for (const LaneEvent& event : grown.events()) {
                fresh.add(event);
            }
            fresh.finish();
            EXPECT_EQ(fresh.end_ns(), grown.end_ns());
            for (int looks = 0; looks < 10; ++looks) {
                const TimeWindow window = random.window(events);
                EXPECT_TRUE(look_the_same(grown, fresh, window)) << "seed " << seed;
            }
            const TimeWindow all{.from_ns = fresh.begin_ns(),
                                 .to_ns = fresh.end_ns() + 1,
                                 .width = static_cast<std::uint32_t>(1 + random.below(9))};
            EXPECT_TRUE(look_the_same(grown, fresh, all)) << "seed " << seed;
        }
        EXPECT_EQ(grown.events().size(), events.size());
    }
}

TEST(TimelineOracle, a_lane_from_which_an_event_is_taken_never_had_it) {
    RandomLane random(1);
    const Events events = random.events(500);
    Lane lane = random.lane(events), without;
    lane.take_out(77);
    lane.finish();
    for (const TimelineEvent& event : events) {
        if (event.id != 77) {
            without.add(event);
        }
    }
    without.finish();
    EXPECT_EQ(lane.events().size(), 499u);
    for (int looks = 0; looks < 10; ++looks) {
        EXPECT_TRUE(look_the_same(lane, without, random.window(events)));
    }
}

// Heights are in 32 steps of a logarithm, and the pyramid may put what is at a border into the pixel beside it.
TEST(TimelineOracle, hundreds_of_threads_are_drawn_by_their_pyramid_as_by_their_lanes) {
    constexpr std::uint32_t kThreads = 200;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        RandomLane random(seed);
        TimelineIndex::Builder builder;
        const std::uint32_t host = builder.add_row();
        Events all;
        for (std::uint32_t i = 0; i < kThreads; ++i) {
            const Events events = random.events(1 + random.below(300));
            all.insert(all.end(), events.begin(), events.end());
            builder.add_thread(host, random.lane(events));
        }
        const TimelineIndex index = std::move(builder).finish();
        const TimeWindow window{
            .from_ns = index.begin_ns(), .to_ns = index.end_ns() + 1, .width = 100};
        PixelRow row(window, TimelineColour::kClass, kThreads);
        for (const Lane& lane : index.lanes_of(index.rows()[host])) {
            lane.draw(row);
        }
        const auto by_lanes = row.runs(),
                   by_pyramid = index.runs(host, window, TimelineColour::kClass);
        std::uint64_t lane_events = 0, pyramid_events = 0;
        for (const TimelineRun& run : by_lanes) {
            lane_events += run.count;
        }
        for (const TimelineRun& run : by_pyramid) {
            pyramid_events += run.count;
        }
        EXPECT_EQ(lane_events, all.size());
        EXPECT_EQ(pyramid_events, all.size());
        const auto exact = busy_threads(by_lanes, window, kThreads),
                   close = busy_threads(by_pyramid, window, kThreads);
        double exact_sum = 0, apart = 0;
        for (std::uint32_t x = 0; x < window.width; ++x) {
            exact_sum += exact[x];
            apart += std::abs(exact[x] - close[x]);
        }
        EXPECT_LT(apart, exact_sum / 5) << "seed " << seed;
    }
}

bool look_the_same(const TimelineIndex& a, const TimelineIndex& b, const TimeWindow& window) {
    bool same = true;
    for (std::uint32_t row = 0; row < a.rows().size(); ++row) {
        for (std::size_t as = 0; as < kTimelineColourings; ++as) {
            const auto colouring = static_cast<TimelineColour>(as);
            same &= are_same(a.runs(row, window, colouring), b.runs(row, window, colouring));
        }
    }
    return same;
}

// Two processes of many threads each, of which now and then all, a few, or those of one get events, and which get threads.
class Growth {
  public:
    explicit Growth(std::uint64_t seed) : random_(seed), threads_{{}, {}} {}

    // `before`: what there was.
    TimelineIndex grown(const TimelineIndex* before) {
        const std::uint64_t of = random_.below(3), rare = 1 + random_.below(20);
        TimelineIndex::Builder builder;
        const std::uint32_t host = builder.add_row();
        std::uint32_t lane_before = 0;
        for (std::uint64_t process = 0; process < 2; ++process) {
            const std::uint32_t row = builder.add_row(host);
            auto& threads = threads_[process];
            for (Thread& thread : threads) {
                if (of != process && random_.below(rare) == 0) {
                    change(thread);
                }
                thread.lane.finish();
                builder.add_thread(row, thread.lane, lane_before++);
            }
            for (std::uint64_t i = threads.empty() ? 50 : random_.below(3); i > 0; --i) {
                change(threads.emplace_back());
                threads.back().lane.finish();
                builder.add_thread(row, threads.back().lane);
            }
        }
        return std::move(builder).finish(before);
    }

    // The same, told at once.
    TimelineIndex at_once() const {
        TimelineIndex::Builder builder;
        const std::uint32_t host = builder.add_row();
        for (const auto& threads : threads_) {
            const std::uint32_t row = builder.add_row(host);
            for (const Thread& thread : threads) {
                Lane lane;
                for (const LaneEvent& event : thread.lane.events()) {
                    lane.add(event);
                }
                lane.finish();
                builder.add_thread(row, std::move(lane));
            }
        }
        return std::move(builder).finish();
    }

    RandomLane& random() { return random_; }

  private:
    struct Thread {
        Lane lane;
        std::uint64_t busy_until = kOracleBegin;
    };

    void change(Thread& thread) {
        if (!thread.lane.empty() && random_.below(30) == 0) {
            const auto events = thread.lane.events();
            thread.lane.take_out(events[random_.below(events.size())].id());
        }
        const std::uint64_t shift = thread.busy_until + random_.some_time() / 64 - kOracleBegin;
        for (TimelineEvent event : random_.events(1 + random_.below(60))) {
            event.begin_ns += shift;
            event.end_ns += shift;
            event.id = ++id_;
            thread.busy_until = std::max(thread.busy_until, event.end_ns);
            thread.lane.add(event);
        }
    }

    RandomLane random_;
    std::vector<Thread> threads_[2];
    std::uint64_t id_ = 0;
};

TEST(TimelineOracle, an_index_that_continues_another_is_the_one_that_was_told_all_at_once) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        Growth growth(seed);
        TimelineIndex index = growth.grown(nullptr);
        for (int step = 0; step < 8; ++step) {
            index = growth.grown(&index);
            const TimelineIndex fresh = growth.at_once();
            EXPECT_EQ(index.events(), fresh.events());
            const std::uint64_t span = fresh.end_ns() - fresh.begin_ns() + 1;
            for (int looks = 0; looks < 12; ++looks) {
                const std::uint64_t wide = span >> growth.random().below(6);
                const std::uint64_t from =
                    fresh.begin_ns() + growth.random().below(span - wide + 1);
                const TimeWindow window{
                    .from_ns = from,
                    .to_ns = from + wide,
                    .width = static_cast<std::uint32_t>(1 + growth.random().below(60))};
                EXPECT_TRUE(look_the_same(index, fresh, window)) << "seed " << seed;
            }
        }
    }
}

}  // namespace
}  // namespace dyetrace::api
