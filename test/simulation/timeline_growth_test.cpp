// Timelines of a recording that were added to, look by look, against those that are read at once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "api/timeline/timeline_answer.h"
#include "api/timeline/timeline_reader.h"
#include "base/sanitized.h"
#include "base/temporary_folder.h"
#include "query/clock/derived_clock_map.h"
#include "simulated_trace.h"
#include "store/seal.h"

namespace dyetrace::simulation {
namespace {

using api::TimelineRead;

constexpr std::uint32_t kHosts = 2, kBusyThreads = 60, kOtherThreads = 5;
constexpr std::int64_t kWall = 1'700'000'000'000'000'000, kSecond = 1'000'000'000;

// Threads in calls, on any CPU, in a trace that is written in small segments and sealed now and then.
class Recording {
  public:
    explicit Recording(std::uint64_t seed) : random_(seed), trace_(path()) {
        trace::SegmentWriterOptions options;
        options.limits.records_max = 400;
        for (std::uint32_t host = 0; host < kHosts; ++host) {
            trace_.add_host(host, kWall + 1000 * host, options);
            for (std::uint32_t i = 0; i < (host == 0 ? kBusyThreads : kOtherThreads); ++i) {
                begin_thread(host);
            }
        }
        step();
    }

    std::string path() const { return temporary_.path() + "/trace"; }
    SimulatedTrace& trace() { return trace_; }
    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

    void begin_thread(std::uint32_t host) {
        const auto context = static_cast<std::uint32_t>(threads_[host].size() + 1);
        trace_[host].thread(context, called(context));
        threads_[host].push_back(kSecond);
    }

    // Something happens, and can be read.
    void step() {
        for (std::uint64_t i = 50 + below(300); i > 0; --i) {
            call(below(4) == 0 ? 1 : 0);
        }
        if (below(2) == 0) {
            begin_thread(0);
        }
        for (std::uint32_t host = 0; host < kHosts; ++host) {
            const auto now = static_cast<std::int64_t>(now_);
            if (below(3) == 0) {
                trace_[host].gap(now, now + 1000, 7);
            }
            trace_[host].flush();
            if (below(3) == 0) {
                store::Sealer::start(trace::TraceFolder::open(trace_[host].folder().path()).value())
                    .value()
                    .seal_what_is_there([](std::size_t) { return true; },
                                        store::Sealer::Abandoned::kMayCarryOn)
                    .value();
            }
        }
    }

  private:
    static SimulatedThread called(std::uint32_t context) {
        return {.pid = 1000 + context / 40, .tid = 1000 + context, .comm = "worker"};
    }

    // A thread's calls follow each other; one that never returns is its last, and it ends at once, later, or never.
    void call(std::uint32_t host) {
        now_ += below(100'000);
        const auto thread = static_cast<std::uint32_t>(below(threads_[host].size()));
        std::int64_t& free_from = threads_[host][thread];
        const std::uint32_t context = thread + 1;
        if (free_from < 0) {
            if (below(2) == 0) {
                trace_[host].end_thread(context, static_cast<std::int64_t>(now_), called(context));
            }
            return;
        }
        SimulatedCall made{.number = static_cast<std::uint16_t>(below(8)),
                           .at = std::max(free_from, static_cast<std::int64_t>(now_ - 50'000)),
                           .context = context,
                           .duration_ns = std::uint64_t{1} << below(28),
                           .event_class = static_cast<schema::Class>(below(9)),
                           .cpu = static_cast<std::uint16_t>(below(kCpus)),
                           .is_unfinished = below(200) == 0};
        if (below(3) == 0) {
            made.fingerprint = 1 + below(30);
        }
        made.off_cpu_ns = below(made.duration_ns + 1);
        trace_[host].call(made);
        free_from = made.is_unfinished
                        ? -1
                        : made.at + static_cast<std::int64_t>(made.duration_ns + below(1000));
    }

    std::mt19937_64 random_;
    base::TemporaryFolder temporary_ = base::TemporaryFolder::make().value();
    SimulatedTrace trace_;
    std::vector<std::int64_t> threads_[kHosts];  // until when each is busy; -1: for ever
    std::uint64_t now_ = 10 * kSecond;
};

TimelineRead read(store::Database& database,
                  const std::string& where,
                  const TimelineRead* before,
                  const std::string& clock = "wall") {
    api::TimelineProgress progress;
    const std::atomic<bool> cancelled = false;
    const api::TimelineRequest request{.where = where, .clock = clock, .begin_ns = kWall};
    return api::read_timeline(database, request, before, progress, cancelled).value();
}

std::string words(const api::LaneEvent& event, const api::Timeline& timeline) {
    return fmt::format("{} {} {} {} {} {} {} {} {}\n",
                       event.begin_ns(),
                       event.duration_ns(),
                       event.id(),
                       timeline.names[event.name()],
                       event.colour(api::TimelineColour::kClass),
                       event.colour(api::TimelineColour::kContent),
                       event.waited(),
                       event.is_error(),
                       event.is_unfinished());
}

std::string words(const api::Timeline& timeline) {
    std::string text = api::timeline_rows_answer(timeline).body + "\n";
    for (const api::TimelineHost& host : timeline.hosts) {
        text += fmt::format("{} {} {}\n", host.name, host.ahead_min_ns, host.ahead_max_ns);
    }
    for (const api::TimelineRow& row : timeline.index.rows()) {
        text += fmt::format("{} {} {} {}\n", row.lanes, row.begin_ns, row.end_ns, row.events);
    }
    for (const api::Lane& lane : timeline.index.lanes()) {
        for (const api::LaneEvent& event : lane.events()) {
            text += words(event, timeline);
        }
    }
    return text;
}

std::string picture(const api::Timeline& timeline, const api::TimeWindow& window) {
    std::string text;
    for (std::uint32_t row = 0; row < timeline.index.rows().size(); ++row) {
        for (std::size_t as = 0; as < api::kTimelineColourings; ++as) {
            for (const api::TimelineRun& run :
                 timeline.index.runs(row, window, static_cast<api::TimelineColour>(as))) {
                text += fmt::format("{} {} {} {} {} {} {} {} {} {}\n",
                                    run.x0,
                                    run.x1,
                                    run.count,
                                    run.colour,
                                    run.fill,
                                    run.work,
                                    run.ran,
                                    run.flags,
                                    run.name,
                                    run.event);
            }
        }
    }
    return text;
}

void expect_same(const TimelineRead& grown, const TimelineRead& fresh, Recording& recording) {
    ASSERT_FALSE(fresh.is_added_to);
    ASSERT_TRUE(words(grown.timeline) == words(fresh.timeline));
    const api::TimelineIndex& index = fresh.timeline.index;
    const std::uint64_t span = index.end_ns() - index.begin_ns() + 1;
    for (int i = 0; i < 6; ++i) {
        const std::uint64_t width_ns =
            std::max<std::uint64_t>(i == 0 ? span : span >> recording.below(16), 1);
        const std::uint64_t from = index.begin_ns() + recording.below(span - width_ns + 1);
        const api::TimeWindow window{
            .from_ns = from,
            .to_ns = from + width_ns,
            .width = static_cast<std::uint32_t>(1 + recording.below(i == 0 ? 20 : 300))};
        EXPECT_EQ(picture(grown.timeline, window), picture(fresh.timeline, window));
    }
}

std::unique_ptr<store::Database> open(const Recording& recording) {
    return store::Database::open(recording.path(), {.threads = 2, .memory_limit = ""}).value();
}

TEST(TimelineGrowth, what_was_added_to_is_what_is_read_at_once) {
    const char* const wheres[] = {
        "", "class = 'file' and duration_ns > 1000", "", "comm = 'worker'"};
    std::size_t unfinished = 0;
    for (std::uint64_t seed = 1; seed <= std::size(wheres); ++seed) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        const std::string where = wheres[seed - 1];
        Recording recording(seed);
        const auto database = open(recording);
        TimelineRead grown = read(*database, where, nullptr);
        for (int step = 0; step < (base::kIsSanitized ? 2 : 6); ++step) {
            SCOPED_TRACE(fmt::format("step {}", step));
            recording.step();
            database->refresh().value();
            grown = read(*database, where, &grown);
            ASSERT_TRUE(grown.is_added_to);
            expect_same(grown, read(*database, where, nullptr), recording);
        }
        unfinished += grown.unfinished.size();
        recording.trace().finish();
        database->refresh().value();
        const TimelineRead whole = read(*database, where, &grown);
        EXPECT_FALSE(whole.is_added_to);
        expect_same(whole, read(*database, where, nullptr), recording);
    }
    EXPECT_GT(unfinished, 5u);
}

TEST(TimelineGrowth, what_is_drawn_from_stays_as_it_was) {
    Recording recording(1);
    const auto database = open(recording);
    const TimelineRead first = read(*database, "", nullptr);
    const std::string before = words(first.timeline);
    recording.step();
    database->refresh().value();
    const TimelineRead second = read(*database, "", &first);
    EXPECT_GT(second.timeline.index.events(), first.timeline.index.events());
    EXPECT_EQ(words(first.timeline), before);
}

TEST(TimelineGrowth, an_event_of_which_the_thread_was_not_known_has_all_read_anew) {
    Recording recording(1);
    recording.trace()[1].call({.at = kSecond, .context = 99});
    recording.trace()[1].flush();
    const auto database = open(recording);
    const TimelineRead unknown = read(*database, "", nullptr);
    recording.trace()[1].thread(99, {.tid = 5000, .comm = "late"});
    recording.step();
    database->refresh().value();
    const TimelineRead known = read(*database, "", &unknown);
    EXPECT_FALSE(known.is_added_to);
    EXPECT_EQ(known.timeline.rows.back().label, "late[5000]");
}

TEST(TimelineGrowth, with_a_condition_a_fact_that_changed_has_all_read_anew) {
    Recording recording(1);
    recording.trace()[1].thread(99, {.tid = 5000, .comm = "someone"});
    recording.trace()[1].socket(5, {.connection = 0, .local_port = 70});
    recording.trace()[1].call({.at = kSecond, .handle = 5, .context = 99});
    recording.trace()[1].flush();
    const auto database = open(recording);
    const std::string where = "connection_id = 77";
    const TimelineRead before = read(*database, where, nullptr);
    EXPECT_EQ(before.timeline.index.events(), 0u);
    recording.trace()[1].socket(5, {.connection = 77, .local_port = 70});
    recording.trace()[1].flush();
    database->refresh().value();
    const TimelineRead after = read(*database, where, &before);
    EXPECT_FALSE(after.is_added_to);
    EXPECT_EQ(after.timeline.index.events(), 1u);
}

TEST(TimelineGrowth, with_a_condition_nothing_is_added_where_facts_were_lost) {
    Recording recording(1);
    const auto database = open(recording);
    const TimelineRead all = read(*database, "", nullptr);
    const TimelineRead first = read(*database, "class = 'file'", nullptr);
    schema::Accounting accounting{};
    accounting.facts_lost = 1;
    recording.trace()[0].account(accounting);
    recording.trace()[0].flush();
    database->refresh().value();
    EXPECT_FALSE(read(*database, "class = 'file'", &first).is_added_to);
    EXPECT_TRUE(read(*database, "", &all).is_added_to);
}

TEST(TimelineGrowth, hosts_on_one_clock_are_read_anew_for_each_look_knows_it_better) {
    Recording recording(1);
    const auto database = open(recording);
    query::use_clock(*database, "cluster");
    const TimelineRead first = read(*database, "", nullptr, "cluster");
    recording.step();
    database->refresh().value();
    EXPECT_FALSE(read(*database, "", &first, "cluster").is_added_to);
}

TEST(TimelineGrowth, a_host_that_joins_has_all_read_anew) {
    Recording recording(1);
    const auto database = open(recording);
    const TimelineRead first = read(*database, "", nullptr);
    HostPart& third = recording.trace().add_host(2, kWall);
    third.thread(1);
    third.call({.at = kSecond, .context = 1});
    third.flush();
    database->refresh().value();
    const TimelineRead second = read(*database, "", &first);
    EXPECT_FALSE(second.is_added_to);
    EXPECT_EQ(second.timeline.hosts.size(), 3u);
}

}  // namespace
}  // namespace dyetrace::simulation
