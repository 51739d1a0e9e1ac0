// A cluster whose true times are known: hosts with clocks that are off, drift, wander, jump and stand still, and messages between them.
//
//   SimulatedCluster cluster({.seed = 7, .hosts = 3, .links = chain(3)});
//   cluster.messages()                    as a trace would show them, in the order in which they were received
//   cluster.true_time(2, t)               what the clock of host 2 shows at true time t
//
// The same seed gives the same cluster on every machine with the same standard library.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "analysis/clock/clock_message.h"

namespace dyetrace::simulation {

constexpr std::int64_t kSecond = 1'000'000'000;  // ns

using Links = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
Links chain(std::uint32_t hosts);
Links star(std::uint32_t hosts);
// A tree that reaches all, and `more` links anywhere.
Links random_links(std::uint32_t hosts, std::uint32_t more, std::uint64_t seed);

struct SimulatedStep {
    std::uint32_t host = 0;
    std::int64_t at_ns = 0;      // true time
    std::int64_t ahead_ns = 0;   // the clock jumps ahead
    std::int64_t asleep_ns = 0;  // the host and its clock stand still
};

struct SimulationOptions {
    std::uint64_t seed = 1;
    std::uint32_t hosts = 2;
    Links links = {{0, 1}};
    std::int64_t duration_ns = 20'000'000'000;
    double messages_per_s = 200;  // on each link, in each direction
    double offset_max_s = 1e8;    // three years, either way
    double drift_max = 200e-6;    // either way
    double wander_per_s =
        0.04e-6;  // of each host's rate; two of them together stay within what is assumed
    double delay_ns = 20'000;  // the least, different in each direction up to a factor of four
    double tail_ns = 50'000;   // what is added grows with 1 / sqrt(chance): heavy
    double loss = 0.1;         // messages that the trace does not show
    bool both_ways = true;
    double wall_off_max_s = 5;  // CLOCK_REALTIME, either way
    std::vector<SimulatedStep> steps = {};
};

class SimulatedCluster {
  public:
    explicit SimulatedCluster(const SimulationOptions& options);

    const SimulationOptions& options() const { return options_; }
    const std::vector<analysis::ClockMessage>& messages() const { return messages_; }
    const std::vector<std::int64_t>& sent_at() const {
        return sent_at_;
    }  // in true time, of each message
    std::int64_t clock(std::uint32_t host, std::int64_t true_ns) const;
    // CLOCK_REALTIME minus the clock, at the start; off by some seconds, as hosts without NTP are.
    std::int64_t wall_offset(std::uint32_t host) const { return wall_offsets_[host]; }
    bool is_asleep(std::uint32_t host, std::int64_t true_ns) const;

  private:
    struct Clock {
        std::int64_t offset_ns = 0;
        std::vector<double> rates;   // less one, at each whole second of true time
        std::vector<double> gained;  // what they add up to until then, in ns
    };
    struct Sent {
        std::int64_t received_ns, sent_ns;
        std::uint32_t from, to;
    };
    Clock make_clock();
    std::int64_t unbroken(std::uint32_t host, std::int64_t true_ns) const;
    void send(std::uint32_t from, std::uint32_t to, std::vector<Sent>& sent);
    double uniform(double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random_);
    }

    SimulationOptions options_;
    std::mt19937_64 random_;
    std::vector<Clock> clocks_;
    std::vector<std::int64_t> wall_offsets_;
    std::vector<analysis::ClockMessage> messages_;
    std::vector<std::int64_t> sent_at_;
};

}  // namespace dyetrace::simulation
