// How many operations a second the rules of ranges take, one core: relays over TCP and pipes, and a database's file.

#include <benchmark/benchmark.h>

#include <random>

#include "analysis/dataflow/flow_engine.h"
#include "analysis/dataflow/memory_store.h"

namespace dyetrace::analysis {
namespace {

constexpr std::size_t kOperations = 1'000'000;

Operation operation(std::uint64_t event, std::uint64_t bytes) {
    Operation made;
    made.event = event;
    made.start_ns = event * 1000;
    made.end_ns = made.start_ns + 500;
    made.process = event % 7;
    made.bytes = bytes;
    return made;
}

Side on(Channel channel, std::uint64_t object, std::uint64_t other, std::uint64_t at) {
    Side side;
    side.channel = channel;
    side.object = object;
    side.other = other;
    side.offset = at;
    return side;
}

// 64 connections, each of which sends 4,096 bytes and reads them in pieces of 3,000.
std::vector<Operation> connections() {
    std::vector<Operation> operations;
    std::uint64_t sent[64] = {}, taken[64] = {};
    for (std::uint64_t event = 1; operations.size() < kOperations; ++event) {
        const std::uint64_t at = event % 64;
        if (sent[at] - taken[at] < 3000) {
            operations.push_back(operation(event, 4096));
            operations.back().to = on(Channel::kTcp, 2 * at + 1, at, sent[at]);
            sent[at] += 4096;
        } else {
            operations.push_back(operation(event, 3000));
            operations.back().from = on(Channel::kTcp, 2 * at + 2, at, taken[at]);
            taken[at] += 3000;
        }
    }
    return operations;
}

std::vector<Operation> pipes() {
    std::vector<Operation> operations = connections();
    for (Operation& made : operations) {
        Side& side = made.to.object != 0 ? made.to : made.from;
        side = on(Channel::kPipe, side.other + 1, 0, kUnknown);
    }
    return operations;
}

// Pages of 8,192 bytes of a file of 800 MB, read and written at random.
std::vector<Operation> pages() {
    std::vector<Operation> operations;
    std::mt19937_64 random(1);
    for (std::uint64_t event = 1; operations.size() < kOperations; ++event) {
        operations.push_back(operation(event, 8192));
        Side& side = event % 2 == 0 ? operations.back().to : operations.back().from;
        side = on(Channel::kFile, 1, 0, random() % 100'000 * 8192);
    }
    return operations;
}

// A file that is written from the begin to the end, and read so: 4,096 bytes at a time.
std::vector<Operation> copies() {
    std::vector<Operation> operations;
    for (std::uint64_t event = 1; operations.size() < kOperations; ++event) {
        operations.push_back(operation(event, 4096));
        const bool reads = event > kOperations / 2;
        Side& side = reads ? operations.back().from : operations.back().to;
        side = on(Channel::kFile, 1, 0, (event - (reads ? kOperations / 2 : 0)) * 4096);
    }
    return operations;
}

template <std::vector<Operation> (*make)()>
void engine(benchmark::State& state) {
    const std::vector<Operation> operations = make();
    std::vector<Flow> flows;
    std::size_t found = 0;
    for (auto _ : state) {
        FlowEngine rules({}, {});
        for (const Operation& made : operations) {
            if (FlowEngine::touch_in_flight(made)) {
                rules.starts(made);
            }
            rules.ends(made, flows);
            found += flows.size();
            flows.clear();
        }
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(operations.size()));
    state.counters["flows"] = static_cast<double>(found) / static_cast<double>(state.iterations());
}

// The engine has memory for a tenth of the ranges, and a store that takes no time.
void pages_with_little_memory(benchmark::State& state) {
    const std::vector<Operation> operations = pages();
    std::vector<Flow> flows;
    for (auto _ : state) {
        MemoryStore store;
        FlowEngine rules({.extents_max = 10'000}, {}, &store);
        for (const Operation& made : operations) {
            rules.starts(made);
            rules.ends(made, flows);
            flows.clear();
        }
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(operations.size()));
}

BENCHMARK(pages_with_little_memory);
BENCHMARK(engine<connections>);
BENCHMARK(engine<pipes>);
BENCHMARK(engine<pages>);
BENCHMARK(engine<copies>);

}  // namespace
}  // namespace dyetrace::analysis
