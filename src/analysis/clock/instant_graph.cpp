#include "analysis/clock/instant_graph.h"

#include <algorithm>
#include <deque>

namespace dyetrace::analysis {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
constexpr double kRoom =
    1;  // ns: what a widened cycle has to spare, so that rounding does not close it again

// Indexes of edges, grouped by a host of theirs.
template <class HostOf>
void group(const std::vector<InstantGraph::Edge>& edges,
           std::size_t hosts,
           HostOf&& host_of,
           std::vector<std::uint32_t>& grouped,
           std::vector<std::uint32_t>& begin) {
    begin.assign(hosts + 1, 0);
    for (const auto& edge : edges) {
        ++begin[host_of(edge) + 1];
    }
    for (std::size_t i = 0; i < hosts; ++i) {
        begin[i + 1] += begin[i];
    }
    grouped.resize(edges.size());
    std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
    for (std::uint32_t i = 0; i < edges.size(); ++i) {
        grouped[next[host_of(edges[i])]++] = i;
    }
}

}  // namespace

InstantGraph::InstantGraph(std::size_t hosts, std::vector<Edge> edges)
    : hosts_(hosts), edges_(std::move(edges)) {
    group(
        edges_, hosts_, [](const Edge& edge) { return edge.to; }, into_, into_begin_);
    group(
        edges_, hosts_, [](const Edge& edge) { return edge.from; }, out_of_, out_of_begin_);
}

std::vector<double> InstantGraph::greatest(std::vector<double> start) {
    return settle(std::move(start), true);
}

std::vector<double> InstantGraph::least(std::vector<double> start) {
    for (double& value : start) {
        value = -value;
    }
    std::vector<double> values = settle(std::move(start), false);
    for (double& value : values) {
        value = -value;
    }
    return values;
}

// Shortest paths from all hosts with a value. Upper bounds go against the edges, (negated) lower bounds along them.
std::vector<double> InstantGraph::settle(std::vector<double> values, bool is_upper) {
    const std::vector<double> start = values;
    std::vector<std::uint32_t> by(hosts_, kNone);  // the edge that gave the value
    std::vector<std::uint32_t> steps(hosts_, 0);   // edges of that path
    std::vector<char> waits(hosts_, 0);
    std::deque<std::uint32_t> queue;
    const auto begin = [&] {
        queue.clear();
        for (std::uint32_t host = 0; host < hosts_; ++host) {
            waits[host] = values[host] < kFree ? 1 : 0;
            if (waits[host] != 0) {
                queue.push_back(host);
            }
        }
    };
    begin();
    while (!queue.empty()) {
        const std::uint32_t host = queue.front();
        queue.pop_front();
        waits[host] = 0;
        const auto& edges = is_upper ? into_ : out_of_;
        const auto& begins = is_upper ? into_begin_ : out_of_begin_;
        for (std::uint32_t i = begins[host]; i < begins[host + 1]; ++i) {
            const Edge& edge = edges_[edges[i]];
            const std::uint32_t next = is_upper ? edge.from : edge.to;
            if (values[host] + edge.weight >= values[next]) {
                continue;
            }
            values[next] = values[host] + edge.weight;
            by[next] = edges[i];
            steps[next] = steps[host] + 1;
            if (steps[next] > hosts_) {
                widen_cycle(next, by);
                values = start;
                std::fill(by.begin(), by.end(), kNone);
                std::fill(steps.begin(), steps.end(), 0);
                begin();
                break;
            }
            if (!waits[next]) {
                waits[next] = 1;
                queue.push_back(next);
            }
        }
    }
    return values;
}

void InstantGraph::widen_cycle(std::uint32_t host, const std::vector<std::uint32_t>& by) {
    ++contradictions_;
    const auto step_back = [&](std::uint32_t at, std::uint32_t edge) {
        return edges_[edge].from == at ? edges_[edge].to : edges_[edge].from;
    };
    for (std::size_t i = 0; i < hosts_ && by[host] != kNone; ++i) {
        host = step_back(host, by[host]);
    }
    std::vector<std::uint32_t> cycle;
    double sum = 0;
    for (std::uint32_t at = host; by[at] != kNone;) {
        cycle.push_back(by[at]);
        sum += edges_[by[at]].weight;
        at = step_back(at, by[at]);
        if (at == host) {
            break;
        }
    }
    for (const std::uint32_t edge : cycle) {
        edges_[edge].weight += (kRoom - std::min(sum, 0.0)) / static_cast<double>(cycle.size());
    }
}

}  // namespace dyetrace::analysis
