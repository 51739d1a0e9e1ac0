// How many events a second the order takes, one core; what keeping the clock of each event would store instead; how long questions take.
//
// A request is four events, two of them of a client and two of a server, and two edges. `clients` talk in turn, to one server thread (hub)
// or each to its own (pairs).

#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <vector>

#include "analysis/causality/causal_order.h"
#include "analysis/causality/happened_before.h"

namespace dyetrace::analysis {
namespace {

constexpr std::uint64_t kEventsPerRequest = 4;
constexpr std::size_t kStepsAtOnce = 2048;  // as DuckDB hands them over

class Requests {
  public:
    Requests(std::uint64_t requests, std::uint64_t clients, bool hub)
        : requests_(requests), clients_(clients), hub_(hub) {}

    Result<std::span<const CauseStep>> next() {
        steps_.clear();
        while (at_ < requests_ && steps_.size() < kStepsAtOnce) {
            add_request(at_++);
        }
        return std::span<const CauseStep>(steps_);
    }

  private:
    void add_request(std::uint64_t request) {
        const std::uint64_t client = request % clients_ + 1;
        const std::uint64_t server = hub_ ? clients_ + 1 : clients_ + client;
        const std::uint64_t now = request * 10 + 1, event = request * kEventsPerRequest + 1;
        add_message(now, event, client, server, request * 2);
        add_message(now + 4, event + 2, server, client, request * 2 + 1);
    }
    void add_message(std::uint64_t now,
                     std::uint64_t event,
                     std::uint64_t from,
                     std::uint64_t to,
                     std::uint64_t edge) {
        steps_.push_back(
            {.kind = StepKind::kGives, .at = now, .thread = from, .event = event, .edge = edge});
        steps_.push_back({.kind = StepKind::kEnds,
                          .at = now + 1,
                          .thread = from,
                          .event = event,
                          .other_at = now});
        steps_.push_back({.kind = StepKind::kTakes,
                          .rule = schema::CauseRule::kTcp,
                          .at = now + 3,
                          .thread = to,
                          .event = event + 1,
                          .edge = edge,
                          .other_event = event,
                          .other_thread = from,
                          .other_at = now});
        steps_.push_back({.kind = StepKind::kEnds,
                          .at = now + 3,
                          .thread = to,
                          .event = event + 1,
                          .other_at = now + 2});
    }

    std::uint64_t requests_, clients_;
    bool hub_;
    std::uint64_t at_ = 0;
    std::vector<CauseStep> steps_;
};

std::vector<CauseEdge> edges_of(std::uint64_t requests, std::uint64_t clients, bool hub) {
    Requests source(requests, clients, hub);
    CausalOrder order({[&] { return source.next(); }});
    std::vector<CauseEdge> edges;
    OrderedSteps out;
    for (bool goes_on = true; goes_on; out.clear()) {
        goes_on = order.advance(out).value();
        edges.insert(edges.end(), out.edges.begin(), out.edges.end());
    }
    return edges;
}

// Arguments: events, clients, whether it is a hub.
void order_events(benchmark::State& state) {
    const auto requests = static_cast<std::uint64_t>(state.range(0)) / kEventsPerRequest;
    for (auto _ : state) {
        Requests source(requests, static_cast<std::uint64_t>(state.range(1)), state.range(2) != 0);
        CausalOrder order({[&] { return source.next(); }});
        OrderedSteps out;
        while (order.advance(out).value()) {
            benchmark::DoNotOptimize(out.events.data());
            out.clear();
        }
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(order_events)
    ->ArgsProduct({{1'000'000, 10'000'000, 100'000'000}, {100}, {0, 1}})
    ->Args({10'000'000, 10'000, 0})
    ->Args({10'000'000, 10'000, 1})
    ->Unit(benchmark::kMillisecond);

// Vector clocks joined at each edge. `stored_per_edge` is how many components a join changes: whatever keeps the clock of each event, as
// vectors, trees or differences, must do and keep that much.
void vector_clocks(benchmark::State& state) {
    const auto clients = static_cast<std::uint64_t>(state.range(1));
    const std::vector<CauseEdge> edges =
        edges_of(static_cast<std::uint64_t>(state.range(0)) / kEventsPerRequest,
                 clients,
                 state.range(2) != 0);
    std::uint64_t stored = 0;
    for (auto _ : state) {
        std::vector<std::vector<std::uint64_t>> clocks(2 * clients + 2,
                                                       std::vector<std::uint64_t>(2 * clients + 2));
        for (const CauseEdge& edge : edges) {
            std::vector<std::uint64_t>& to = clocks[edge.to_thread];
            std::vector<std::uint64_t>& from = clocks[edge.from_thread];
            from[edge.from_thread] = edge.from_at;
            for (std::size_t i = 0; i < to.size(); ++i) {
                stored += from[i] > to[i] ? 1 : 0;
                to[i] = std::max(to[i], from[i]);
            }
        }
        benchmark::DoNotOptimize(clocks.data());
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
    state.counters["stored_per_edge"] =
        static_cast<double>(stored) /
        static_cast<double>(edges.size() * static_cast<std::size_t>(state.iterations()));
}
BENCHMARK(vector_clocks)
    ->ArgsProduct({{100'000}, {10, 100, 1000}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

// Pairs of events, `apart` requests from each other, at random places of a hub.
void questions(benchmark::State& state) {
    constexpr std::uint64_t kRequests = 500'000;
    const auto clients = static_cast<std::uint64_t>(state.range(0));
    const auto apart = static_cast<std::uint64_t>(state.range(1));
    const HappenedBefore order(edges_of(kRequests, clients, true));
    std::mt19937_64 random(1);
    const auto at = [&](std::uint64_t request) {
        const std::uint64_t now = request * 10 + 1;
        return EventPlace{request * kEventsPerRequest + 1, request % clients + 1, now, now + 1};
    };
    for (auto _ : state) {
        const std::uint64_t request = random() % (kRequests - apart);
        benchmark::DoNotOptimize(order.between(at(request), at(request + apart)));
        benchmark::DoNotOptimize(order.between(at(request + apart), at(request)));
    }
    state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(questions)->ArgsProduct({{100, 10'000}, {1, 50, 400'001}});

void questions_about_one_event(benchmark::State& state) {
    constexpr std::uint64_t kRequests = 500'000;
    const auto clients = static_cast<std::uint64_t>(state.range(0));
    const HappenedBefore order(edges_of(kRequests, clients, true));
    const Cone after = order.after({1, 1, 1, 2});
    std::uint64_t request = 0;
    for (auto _ : state) {
        request = (request + 7919) % kRequests;
        const std::uint64_t now = request * 10 + 1;
        benchmark::DoNotOptimize(
            order.in_future({request * 4 + 1, request % clients + 1, now, now + 1}, after));
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(questions_about_one_event)->Arg(100)->Arg(10'000);

}  // namespace
}  // namespace dyetrace::analysis
