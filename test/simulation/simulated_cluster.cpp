#include "simulated_cluster.h"

#include <algorithm>
#include <cmath>

namespace dyetrace::simulation {
namespace {

using base::HostClock;
using base::Instant;

constexpr double kDelayMax = 2e9;  // ns: TCP would have given up on less

}  // namespace

Links chain(std::uint32_t hosts) {
    Links links;
    for (std::uint32_t i = 1; i < hosts; ++i) {
        links.push_back({i - 1, i});
    }
    return links;
}

Links star(std::uint32_t hosts) {
    Links links;
    for (std::uint32_t i = 1; i < hosts; ++i) {
        links.push_back({0, i});
    }
    return links;
}

Links random_links(std::uint32_t hosts, std::uint32_t more, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Links links;
    for (std::uint32_t i = 1; i < hosts; ++i) {
        links.push_back({static_cast<std::uint32_t>(random() % i), i});
    }
    for (std::uint32_t i = 0; i < more; ++i) {
        const auto a = static_cast<std::uint32_t>(random() % hosts),
                   b = static_cast<std::uint32_t>(random() % hosts);
        if (a != b) {
            links.push_back({a, b});
        }
    }
    return links;
}

SimulatedCluster::SimulatedCluster(const SimulationOptions& options)
    : options_(options), random_(options.seed) {
    for (std::uint32_t host = 0; host < options_.hosts; ++host) {
        clocks_.push_back(make_clock());
        wall_offsets_.push_back(
            1'700'000'000 * kSecond - clocks_.back().offset_ns +
            static_cast<std::int64_t>(uniform(-1e9, 1e9) * options_.wall_off_max_s));
    }
    std::vector<Sent> sent;
    for (const auto& [a, b] : options_.links) {
        send(a, b, sent);
        if (options_.both_ways) {
            send(b, a, sent);
        }
    }
    std::sort(sent.begin(), sent.end(), [](const Sent& x, const Sent& y) {
        return x.received_ns < y.received_ns;
    });
    for (const Sent& one : sent) {
        messages_.push_back({Instant(HostClock{one.from}, clock(one.from, one.sent_ns)),
                             Instant(HostClock{one.to}, clock(one.to, one.received_ns))});
        sent_at_.push_back(one.sent_ns);
    }
}

SimulatedCluster::Clock SimulatedCluster::make_clock() {
    Clock made;
    made.offset_ns =
        static_cast<std::int64_t>(uniform(-options_.offset_max_s, options_.offset_max_s) * 1e9);
    double rate = uniform(-options_.drift_max, options_.drift_max), gained = 0;
    const auto seconds = static_cast<std::size_t>(options_.duration_ns / kSecond) + 4;
    double trend = options_.wander_per_s;
    for (std::size_t i = 0; i < seconds; ++i) {
        made.rates.push_back(rate);
        made.gained.push_back(gained);
        if (random_() % 16 == 0) {
            trend = uniform(-options_.wander_per_s,
                            options_.wander_per_s);  // warmer, or colder, for a while
        }
        const double next = std::clamp(rate + trend, -options_.drift_max, options_.drift_max);
        gained += (rate + next) / 2 * 1e9;
        rate = next;
    }
    return made;
}

bool SimulatedCluster::is_asleep(std::uint32_t host, std::int64_t true_ns) const {
    return std::any_of(
        options_.steps.begin(), options_.steps.end(), [&](const SimulatedStep& step) {
            return step.host == host && true_ns >= step.at_ns &&
                   true_ns < step.at_ns + step.asleep_ns;
        });
}

// What it would show if it never stepped.
std::int64_t SimulatedCluster::unbroken(std::uint32_t host, std::int64_t true_ns) const {
    const Clock& of = clocks_[host];
    const auto second = static_cast<std::size_t>(true_ns / kSecond);
    const double into_second = static_cast<double>(true_ns % kSecond);
    const double bend = (of.rates[second + 1] - of.rates[second]) / 1e9;
    const double gained =
        of.gained[second] + of.rates[second] * into_second + bend / 2 * into_second * into_second;
    return of.offset_ns + true_ns + std::llround(gained);
}

std::int64_t SimulatedCluster::clock(std::uint32_t host, std::int64_t true_ns) const {
    std::int64_t shown = unbroken(host, true_ns);
    for (const SimulatedStep& step : options_.steps) {
        if (step.host == host && true_ns >= step.at_ns) {
            const std::int64_t woken_ns = std::min(true_ns, step.at_ns + step.asleep_ns);
            shown += step.ahead_ns - (unbroken(host, woken_ns) - unbroken(host, step.at_ns));
        }
    }
    return shown;
}

void SimulatedCluster::send(std::uint32_t from, std::uint32_t to, std::vector<Sent>& sent) {
    const double least = options_.delay_ns * uniform(1, 4);
    std::exponential_distribution<double> pause(options_.messages_per_s / 1e9);
    for (double at = pause(random_); at < static_cast<double>(options_.duration_ns);
         at += pause(random_)) {
        const double chance = uniform(1e-9, 1);
        const double delay =
            std::min(least + options_.tail_ns * (1 / std::sqrt(chance) - 1), kDelayMax);
        const auto sent_ns = static_cast<std::int64_t>(at);
        std::int64_t received_ns = sent_ns + static_cast<std::int64_t>(delay);
        for (const SimulatedStep& step : options_.steps) {
            if (step.host == to && is_asleep(to, received_ns)) {
                received_ns = step.at_ns + step.asleep_ns + static_cast<std::int64_t>(delay);
            }
        }
        if (uniform(0, 1) >= options_.loss && !is_asleep(from, sent_ns)) {
            sent.push_back({received_ns, sent_ns, from, to});
        }
    }
}

}  // namespace dyetrace::simulation
