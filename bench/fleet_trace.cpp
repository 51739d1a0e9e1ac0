// Writes a trace of three hosts that send each other messages, to time questions over it:
//
//   fleet_trace TRACE EVENTS      then: dyetrace seal TRACE; dyetrace sql --clock=raw|cluster TRACE "SELECT count(*), max(time) FROM events"
//
// An event each 10 µs on each host, one of 64 a message to a neighbour, one of 64 the receipt of one, 100 to 300 µs later. Clocks are apart by a day
// and by ±20 ppm.
#include <fmt/format.h>

#include <cstdlib>
#include <deque>

#include "simulation/simulated_trace.h"

namespace {

using namespace dyetrace;

constexpr std::uint32_t kHosts = 3;
constexpr std::int64_t kStepNs = 10'000, kDay = 86'400'000'000'000;
constexpr std::uint64_t kEachMessage = 64;
constexpr std::uint16_t kPread = 17;

struct OnItsWay {
    std::int64_t arrives;
    std::uint32_t from;
    std::uint64_t offset;
};

std::int64_t clock_of(std::uint32_t host, std::int64_t ns) {
    return (host + 1) * kDay + ns + ns / 50'000 * (static_cast<std::int64_t>(host) - 1);
}

// The connection between two hosts has the same handle on both of them.
std::uint32_t handle_of(std::uint32_t a, std::uint32_t b) {
    return a + b;
}

void write(const std::string& path, std::uint64_t events) {
    simulation::SimulatedTrace trace(path);
    for (std::uint32_t host = 0; host < kHosts; ++host) {
        simulation::HostPart& part = trace.add_host(host, 1'700'000'000'000'000'000 - kDay * host);
        part.thread(1);
        for (std::uint32_t other = 0; other < kHosts; ++other) {
            if (other != host) {
                part.socket(handle_of(host, other), {.connection = 70 + handle_of(host, other)});
            }
        }
    }
    std::deque<OnItsWay> on_their_way[kHosts];
    std::uint64_t sent[kHosts][kHosts] = {};
    for (std::uint64_t i = 0; i < events; ++i) {
        const auto host = static_cast<std::uint32_t>(i % kHosts);
        const std::uint64_t turn = i / kHosts;
        const auto now = static_cast<std::int64_t>(turn) * kStepNs + host * 1000;
        simulation::SimulatedCall call{.number = kPread, .at = clock_of(host, now), .context = 1};
        auto& waiting = on_their_way[host];
        if (turn % kEachMessage == 0) {
            const auto to =
                static_cast<std::uint32_t>((host + 1 + turn / kEachMessage % 2) % kHosts);
            call.number = simulation::kSendto;
            call.handle = handle_of(host, to);
            call.stream_offset = sent[host][to];
            on_their_way[to].push_back({now + 100'000 * (1 + host), host, sent[host][to]});
            sent[host][to] += simulation::kBytes;
        } else if (!waiting.empty() && waiting.front().arrives <= now) {
            call.number = simulation::kRecvfrom;
            call.handle = handle_of(host, waiting.front().from);
            call.stream_offset = waiting.front().offset;
            waiting.pop_front();
        }
        trace[host].call(call);
    }
    trace.finish();
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3 || std::strtoull(arguments[2], nullptr, 10) == 0) {
        fmt::print(stderr, "fleet_trace TRACE EVENTS: a folder to make, and a number of events\n");
        return 2;
    }
    write(arguments[1], std::strtoull(arguments[2], nullptr, 10));
    return 0;
}
