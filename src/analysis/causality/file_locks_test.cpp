// Locks of ranges: as little stories, and random ones beside a lock table that knows when each was had.
#include "analysis/causality/file_locks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <queue>
#include <random>

#include "analysis/causality/handover_stories.h"

namespace dyetrace::analysis {
namespace {

struct LockCall {
    ActKind kind;
    std::uint64_t event, start, end, holder;
    ByteRange range = {};
};

std::vector<Handover> found_in(const std::vector<LockCall>& calls) {
    std::vector<HandoverAct> acts;
    acts.reserve(calls.size());
    for (const LockCall& call : calls) {
        acts.push_back({.kind = call.kind,
                        .event = call.event,
                        .thread = call.holder,
                        .start_ns = call.start,
                        .end_ns = call.end,
                        .key = 7,
                        .holder = call.holder,
                        .range = call.range});
    }
    return handovers_of(acts);
}

// "1>2 3>2"
std::string story(const std::vector<LockCall>& calls) {
    const std::vector<Handover> found = found_in(calls);
    for (const Handover& each : found) {
        EXPECT_EQ(each.rule, schema::CauseRule::kLock);
    }
    return text_of(found);
}

TEST(FileLocks, only_bytes_that_both_wanted_are_handed_over) {
    EXPECT_EQ(story({{kExclusive, 1, 10, 11, 1, {0, 10}},
                     {kUnlocked, 2, 12, 13, 1, {0, 10}},
                     {kExclusive, 3, 20, 21, 2, {10, 20}},
                     {kExclusive, 4, 30, 31, 3, {9, 10}}}),
              "2>4");
}

TEST(FileLocks, a_part_may_be_let_go) {
    EXPECT_EQ(story({{kExclusive, 1, 10, 11, 1},
                     {kUnlocked, 2, 12, 13, 1, {5, 20}},
                     {kExclusive, 3, 20, 21, 2, {5, 15}},
                     {kUnlocked, 4, 22, 23, 1},
                     {kExclusive, 5, 30, 31, 3, {0, 20}}}),
              "2>3 2>5 4>5")
        << "5 came after what 2 let go of and 3 did not take, and after the rest";
}

TEST(FileLocks, who_locks_for_himself_alone_stands_for_all_before) {
    EXPECT_EQ(story({{kExclusive, 1, 10, 11, 1},
                     {kUnlocked, 2, 12, 13, 1},
                     {kExclusive, 3, 20, 21, 2},
                     {kUnlocked, 4, 22, 23, 2},
                     {kShared, 5, 30, 31, 3}}),
              "2>3 4>5");
}

TEST(FileLocks, a_lock_that_becomes_a_shared_one_lets_others_read) {
    EXPECT_EQ(story({{kExclusive, 1, 10, 11, 1},
                     {kShared, 2, 12, 13, 1},
                     {kShared, 3, 12, 21, 2},
                     {kUnlocked, 4, 22, 23, 1},
                     {kShared, 5, 30, 31, 3}}),
              "2>3 2>5");
}

TEST(FileLocks, of_many_that_one_thread_let_go_the_last_counts) {
    std::vector<LockCall> calls;
    for (std::uint64_t i = 0; i < 3 * kFileLocksMax; ++i) {
        calls.push_back({kShared, 10 + 2 * i, 10 * i, 10 * i + 1, 1});
        calls.push_back({kUnlocked, 11 + 2 * i, 10 * i + 2, 10 * i + 3, 1});
    }
    const std::uint64_t last = calls.back().event;
    calls.push_back({kExclusive, 1, 1'000'000, 1'000'001, 2});
    EXPECT_EQ(story(calls), std::to_string(last) + ">1");
}

TEST(FileLocks, of_more_than_it_remembers_the_oldest_are_forgotten_and_counted) {
    FileLocks locks;
    std::vector<Handover> found;
    for (std::uint64_t i = 0; i < kFileLocksMax + 3; ++i) {
        const HandoverAct act = {.kind = kExclusive,
                                 .event = 10 + i,
                                 .thread = 1 + i,
                                 .holder = 1 + i,
                                 .range = {i, i + 1}};
        locks.acquired(act, found);
    }
    EXPECT_EQ(locks.forgotten(), 3u);
    EXPECT_TRUE(found.empty());
}

// A lock table as the kernel keeps it: at one instant inside each call something is had, or let go of.
class LockTable {
  public:
    explicit LockTable(unsigned seed) : random_(seed) {
        for (int i = 0; i < 40; ++i) {
            act(1 + below(kHolders));
        }
    }

    struct Done {
        LockCall call;
        std::uint64_t instant;
    };
    // `from` had bytes, for itself alone or not, that `to` could only get afterwards.
    struct Truth {
        std::size_t from, to;
    };
    const std::vector<Done>& done() const { return done_; }
    const std::vector<Truth>& truths() const { return truths_; }

  private:
    static constexpr std::uint64_t kHolders = 4, kBytes = 8;
    struct Byte {
        std::map<std::uint64_t, bool> holders;  // to whether it is for one alone
        std::vector<std::pair<std::size_t, bool>> let_go;
    };

    std::uint64_t below(std::uint64_t end) { return random_() % end; }

    void act(std::uint64_t holder) {
        const std::uint64_t begin = below(kBytes), end = begin + 1 + below(kBytes - begin);
        const ActKind kind = std::array{kShared, kExclusive, kUnlocked}[below(3)];
        if (kind != kUnlocked && !is_free(holder, begin, end, kind == kExclusive)) {
            return;  // it would wait: others go first
        }
        std::uint64_t& free_from = free_from_[holder];
        now_ = std::max(now_, free_from) + 1 + below(4);
        const std::uint64_t start = free_from + 1 + below(now_ - free_from);
        free_from = now_ + below(9);
        const std::size_t number = done_.size();
        done_.push_back({{kind, number + 1, start, free_from, holder, {begin, end}}, now_});
        for (std::uint64_t at = begin; at < end; ++at) {
            change(bytes_[at], number, holder, kind);
        }
    }
    bool is_free(std::uint64_t holder, std::uint64_t begin, std::uint64_t end, bool exclusive) {
        return std::all_of(bytes_ + begin, bytes_ + end, [&](const Byte& byte) {
            return std::all_of(byte.holders.begin(), byte.holders.end(), [&](const auto& held) {
                return held.first == holder || (!exclusive && !held.second);
            });
        });
    }
    void change(Byte& byte, std::size_t number, std::uint64_t holder, ActKind kind) {
        const auto held = byte.holders.find(holder);
        if (held != byte.holders.end() &&
            (kind == kUnlocked || (kind == kShared && held->second))) {
            byte.let_go.emplace_back(number, held->second);
        }
        if (kind == kUnlocked) {
            byte.holders.erase(holder);
            return;
        }
        for (const auto& [from, was_exclusive] : byte.let_go) {
            if (was_exclusive || kind == kExclusive) {
                truths_.push_back({from, number});
            }
        }
        byte.holders[holder] = kind == kExclusive;
    }

    std::mt19937_64 random_;
    std::uint64_t now_ = 10;
    std::map<std::uint64_t, std::uint64_t> free_from_;
    Byte bytes_[kBytes];
    std::vector<Done> done_;
    std::vector<Truth> truths_;
};

// Moments 2i and 2i + 1 are the begin and the end of a call; a step leads to what is later for sure.
std::vector<std::vector<std::size_t>> steps_of(const std::vector<LockTable::Done>& done,
                                               const std::vector<Handover>& found) {
    std::vector<std::vector<std::size_t>> steps(2 * done.size());
    std::map<std::uint64_t, std::size_t> last;
    for (std::size_t i = 0; i < done.size(); ++i) {
        steps[2 * i].push_back(2 * i + 1);
        if (const auto before = last.find(done[i].call.holder); before != last.end()) {
            steps[2 * before->second + 1].push_back(2 * i);
        }
        last[done[i].call.holder] = i;
    }
    for (const Handover& each : found) {
        steps[2 * (each.from_event - 1)].push_back(2 * (each.to_event - 1) + 1);
    }
    return steps;
}

bool leads_to(const std::vector<std::vector<std::size_t>>& steps,
              std::size_t from,
              std::size_t to) {
    std::vector<bool> reached(steps.size());
    std::queue<std::size_t> queue({from});
    while (!queue.empty()) {
        for (const std::size_t next : steps[queue.front()]) {
            if (!reached[next]) {
                reached[next] = true;
                queue.push(next);
            }
        }
        queue.pop();
    }
    return reached[to];
}

TEST(FileLocks, random_ones_are_ordered_as_they_were_had_and_none_is_missed) {
    std::size_t truths = 0;
    for (unsigned seed = 1; seed <= 500; ++seed) {
        SCOPED_TRACE(seed);
        const LockTable table(seed);
        std::vector<LockCall> calls;
        for (const LockTable::Done& done : table.done()) {
            calls.push_back(done.call);
        }
        const std::vector<Handover> found = found_in(calls);
        for (const Handover& each : found) {
            ASSERT_LT(table.done()[each.from_event - 1].instant,
                      table.done()[each.to_event - 1].instant);
        }
        const auto steps = steps_of(table.done(), found);
        for (const LockTable::Truth& truth : table.truths()) {
            ASSERT_TRUE(leads_to(steps, 2 * truth.from, 2 * truth.to + 1))
                << truth.from + 1 << " before " << truth.to + 1;
        }
        truths += table.truths().size();
    }
    EXPECT_GT(truths, 5'000u);
}

}  // namespace
}  // namespace dyetrace::analysis
