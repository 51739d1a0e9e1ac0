// Random operations, and for each byte of a small world who put it there: what the engine must say as well.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <tuple>

#include "analysis/dataflow/flow_cases.h"
#include "analysis/dataflow/memory_store.h"
#include "base/deep.h"

namespace dyetrace::analysis {
namespace {

constexpr std::size_t kFileBytes = 64;
constexpr std::uint64_t kFiles = 3;

// One byte of a flow: writer, reader, position.
using ByteFlow = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;

std::multiset<ByteFlow> bytes_of(const std::vector<Flow>& flows) {
    std::multiset<ByteFlow> bytes;
    for (const Flow& flow : flows) {
        for (std::uint64_t i = 0; i < flow.bytes; ++i) {
            bytes.emplace(flow.from_event, flow.to_event, flow.from_offset + i);
        }
    }
    return bytes;
}

class NaiveFiles {
  public:
    void apply(const Case& operation) {
        for (std::uint64_t i = 0; operation.from.object != 0 && i < operation.bytes; ++i) {
            const auto writer = writers_.find({operation.from.object, operation.from.offset + i});
            if (writer != writers_.end()) {
                flows_.emplace(writer->second, operation.event, operation.from.offset + i);
            }
        }
        for (std::uint64_t i = operation.cut_begin; i < std::min(operation.cut_end, kFileBytes * 2);
             ++i) {
            writers_.erase({operation.to.object, i});
        }
        for (std::uint64_t i = 0; operation.to.object != 0 && i < operation.bytes; ++i) {
            writers_[{operation.to.object, operation.to.offset + i}] = operation.event;
        }
    }
    const std::multiset<ByteFlow>& flows() const { return flows_; }

  private:
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> writers_;
    std::multiset<ByteFlow> flows_;
};

class RandomWorld {
  public:
    explicit RandomWorld(unsigned seed) : random_(seed) {}

    Case operation(std::uint64_t event) {
        const std::uint64_t bytes = below(kFileBytes / 2) + 1;
        switch (below(8)) {
            case 0:
                return cut_of(event, below(kFiles) + 1, below(kFileBytes), UINT64_MAX);
            case 1: {
                const std::uint64_t begin = below(kFileBytes);
                return cut_of(event, below(kFiles) + 1, begin, begin + bytes);
            }
            case 2:
                return copy_of(event, any_file(), any_file(), bytes);
            case 3:
            case 4:
                return read_of(event, any_file(), bytes);
            default:
                return write_of(event, any_file(), bytes);
        }
    }
    std::uint64_t below(std::uint64_t end) { return random_() % end; }

  private:
    Side any_file() { return file(below(kFiles) + 1, below(kFileBytes)); }
    std::mt19937_64 random_;
};

TEST(FlowOracle, each_byte_of_a_file_comes_from_its_last_writer) {
    for (unsigned seed = 1; seed <= base::deep(50U, 200U); ++seed) {
        RandomWorld world(seed);
        NaiveFiles naive;
        std::vector<Case> cases;
        for (std::uint64_t event = 1; event <= 200; ++event) {
            cases.push_back(world.operation(event));
            naive.apply(cases.back());
        }
        FlowEngine engine({}, {});
        const std::vector<Flow> flows = flows_of(engine, cases);
        ASSERT_EQ(bytes_of(flows), naive.flows()) << "seed " << seed;
        for (const Flow& flow : flows) {
            ASSERT_EQ(flow.certainty, schema::Certainty::kCertain) << "seed " << seed;
            ASSERT_EQ(flow.from_position, flow.from_offset - cases[flow.from_event - 1].to.offset);
            ASSERT_EQ(flow.to_position, flow.to_offset - cases[flow.to_event - 1].from.offset);
        }
    }
}

// Calls overlap in time at will. Whatever really happened is one of the flows that the engine gives, and what it calls
// certain really happened: tried with a moment inside of each call at which it took effect. In every second world calls are slow,
// and some reads are so slow that all the file is written again and again meanwhile.
TEST(FlowOracle, what_overlaps_is_never_missing_and_never_wrongly_certain) {
    for (unsigned seed = 1; seed <= base::deep(250U, 1000U); ++seed) {
        RandomWorld world(seed);
        std::vector<Case> cases;
        std::vector<std::pair<std::uint64_t, std::size_t>> effects;
        const bool is_slow = seed % 2 == 0;
        const std::uint64_t scale = is_slow ? kShortReadNs : 1;
        for (std::uint64_t event = 1; event <= (is_slow ? 200 : 60); ++event) {
            Case operation = world.operation(event);
            if (operation.cut_begin < operation.cut_end) {
                operation =
                    write_of(event, file(1, 0), 8);  // a cut has no bytes whose owner is in doubt
            }
            const bool is_long = is_slow && operation.to.object == 0 && world.below(4) == 0;
            const std::uint64_t start = event * 10 * scale,
                                end = start + 1 + world.below((is_long ? 1500 : 25) * scale);
            cases.push_back(operation.at(start, end));
            effects.emplace_back((start + world.below(end - start)) * 100 + event, event - 1);
        }
        std::sort(effects.begin(), effects.end());
        NaiveFiles naive;
        for (const auto& [moment, index] : effects) {
            naive.apply(cases[index]);
        }
        FlowEngine engine({}, {});
        const std::vector<Flow> flows = flows_of(engine, cases);
        const std::multiset<ByteFlow> said = bytes_of(flows);
        ASSERT_EQ(said.size(), (std::set<ByteFlow>(said.begin(), said.end()).size()))
            << "seed " << seed << ": a flow is said twice";
        for (const ByteFlow& flow : naive.flows()) {
            ASSERT_TRUE(said.contains(flow))
                << "seed " << seed << ": " << std::get<0>(flow) << " to " << std::get<1>(flow)
                << " at " << std::get<2>(flow);
        }
        for (const Flow& flow : flows) {
            for (std::uint64_t i = 0;
                 flow.certainty == schema::Certainty::kCertain && i < flow.bytes;
                 ++i) {
                ASSERT_TRUE(
                    naive.flows().contains({flow.from_event, flow.to_event, flow.from_offset + i}))
                    << "seed " << seed << ": " << flow.from_event << " to " << flow.to_event;
            }
        }
    }
}

// Bytes of a pipe have numbers, too: writes and reads that do not overlap, each of any size, some of them peeks.
TEST(FlowOracle, each_byte_of_a_pipe_is_taken_once) {
    for (unsigned seed = 1; seed <= base::deep(50U, 200U); ++seed) {
        RandomWorld world(seed);
        std::vector<std::uint64_t> writers;
        std::size_t taken = 0;
        std::multiset<ByteFlow> expected;
        std::vector<Case> cases;
        for (std::uint64_t event = 1; event <= 200; ++event) {
            const std::uint64_t bytes = world.below(50) + 1;
            if (world.below(2) == 0 || taken + bytes > writers.size()) {
                writers.insert(writers.end(), bytes, event);
                cases.push_back(write_of(event, piped(1), bytes));
                continue;
            }
            const bool peeks = world.below(4) == 0;
            for (std::uint64_t i = 0; i < bytes; ++i) {
                expected.emplace(writers[taken + i], event, taken + i);
            }
            cases.push_back(read_of(event, peeks ? peek(piped(1)) : piped(1), bytes));
            taken += peeks ? 0 : bytes;
        }
        FlowEngine engine({}, {});
        ASSERT_EQ(bytes_of(flows_of(engine, cases)), expected) << "seed " << seed;
    }
}

// With next to no memory and a store the flows are those of an engine with enough of it.
TEST(FlowOracle, what_is_put_away_changes_no_flow) {
    std::uint64_t put_away = 0;
    for (unsigned seed = 1; seed <= 200; ++seed) {
        RandomWorld world(seed);
        std::vector<Case> cases;
        for (std::uint64_t event = 1; event <= 400; ++event) {
            Case operation = world.operation(event);
            if (world.below(4) == 0) {
                const std::uint64_t bytes = world.below(50) + 1;
                const Side side = world.below(2) == 0 ? piped(2) : piped(3);
                operation = world.below(2) == 0 ? write_of(event, side, bytes)
                                                : read_of(event, side, bytes);
            }
            cases.push_back(operation.at(event * 10, event * 10 + 1 + world.below(25)));
        }
        FlowEngine whole({}, {});
        MemoryStore store;
        FlowEngine small({.extents_max = 2}, {}, &store);
        ASSERT_EQ(flows_of(small, cases), flows_of(whole, cases)) << "seed " << seed;
        EXPECT_EQ(small.forgotten(), 0u);
        put_away += small.put_away();
    }
    EXPECT_GT(put_away, 100'000u);
}

}  // namespace
}  // namespace dyetrace::analysis
