// A fleet in one program: many agents, each with its own connection, spool, name and (without --insecure) certificate, whose
// recorders replay a trace that was really recorded (replay.h). All else is what `dyetrace agent` runs.
//
//   dyetrace record --no-seal -o recorded -- LOAD
//   bench_fleet --collector 127.0.0.1:4147 --insecure --hosts 1000 --trace recorded --spools FOLDER
//   dyetrace record --on all --collector 127.0.0.1 --insecure -o fleet
//
// Prints a line of JSON every 100 ms, times in seconds of CLOCK_MONOTONIC:
//   {"time": 812.41, "connected": 1000, "caught_up": 988, "recovered": 1000, "running": 1000, "events": 81230, "bytes": 912833}
// connected: hosts that the collector has answered; caught_up: of these, those of which it has acknowledged everything; recovered:
// those of which it once had, since they connected; running: replays with something left to write; events, bytes: that all replays
// have written.
//
// Ends with SIGINT or SIGTERM. Limits: as many hosts as a collector takes; about four descriptors each.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/log.h"
#include "base/signals.h"
#include "replay.h"
#include "transport/agent.h"

namespace {

using namespace dyetrace;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kTellEvery{100};
constexpr std::uint64_t kNsPerS = 1'000'000'000;

struct Arguments {
    std::string collector;
    std::string certificates;  // folder of folders host-NAME
    bool insecure = false;
    std::uint32_t hosts = 100;
    std::string trace;
    std::string spools;
    double speed = 1;
    std::uint32_t threads = 2;
    bool talk = false;
};

// Agents that share a thread. What others want to know of them is counted once a round.
struct Counts {
    std::atomic<std::uint64_t> connected = 0;
    std::atomic<std::uint64_t> caught_up = 0;
    std::atomic<std::uint64_t> recovered = 0;
};
struct Member {
    std::unique_ptr<transport::Agent> agent;
    bool recovered = false;
};
struct Group {
    std::vector<Member> members;
    Counts counts;
};

// Each looks as often as a real agent does, if the machine is fast enough.
void run(Group& group, const std::atomic<bool>& ended) {
    while (!ended) {
        const auto next = steady_clock::now() + milliseconds(transport::kPollMs);
        std::uint64_t connected = 0;
        std::uint64_t caught_up = 0;
        std::uint64_t recovered = 0;
        for (Member& member : group.members) {
            member.agent->tick(0);
            const bool has_caught_up = member.agent->has_caught_up();
            member.recovered = member.agent->is_connected() && (member.recovered || has_caught_up);
            connected += member.agent->is_connected() ? 1 : 0;
            caught_up += has_caught_up ? 1 : 0;
            recovered += member.recovered ? 1 : 0;
            if (ended) {
                return;
            }
        }
        group.counts.connected = connected;
        group.counts.caught_up = caught_up;
        group.counts.recovered = recovered;
        std::this_thread::sleep_until(next);
    }
}

class Fleet {
  public:
    Fleet(const Arguments& arguments, const bench::RecordedTrace& recorded, const base::Log& log)
        : arguments_(arguments), recorded_(recorded), log_(log), groups_(arguments.threads) {}

    Result<void> start() {
        for (std::uint32_t number = 0; number < arguments_.hosts; ++number) {
            TRY(auto agent, transport::Agent::start(options_of(number), log_));
            groups_[number % groups_.size()].members.push_back({std::move(agent), false});
        }
        return {};
    }

    // Until a signal comes.
    void run_until(const base::Fd& signals) {
        std::atomic<bool> ended = false;
        std::vector<std::thread> threads;
        for (Group& group : groups_) {
            threads.emplace_back([&group, &ended] { run(group, ended); });
        }
        while (!base::was_asked_to_end(signals)) {
            tell();
            std::this_thread::sleep_for(kTellEvery);
        }
        ended = true;
        for (std::thread& thread : threads) {
            thread.join();
        }
    }

  private:
    transport::AgentOptions options_of(std::uint32_t number) {
        transport::AgentOptions options;
        options.collector = arguments_.collector;
        options.host = fmt::format("host-{:04}", number);
        options.spool = fmt::format("{}/{}", arguments_.spools, options.host);
        options.security = {fmt::format("{}/host-{}", arguments_.certificates, options.host),
                            arguments_.insecure};
        // a second's worth of hosts begin within a second, not at once
        const bench::Pace pace{arguments_.speed, kNsPerS * number / arguments_.hosts};
        options.start_recorder = [this, pace](const transport::RecorderOrder& order) {
            return bench::replay(recorded_, order, pace, totals_);
        };
        return options;
    }

    std::uint64_t sum(std::atomic<std::uint64_t> Counts::*which) const {
        std::uint64_t sum = 0;
        for (const Group& group : groups_) {
            sum += group.counts.*which;
        }
        return sum;
    }

    void tell() const {
        fmt::print(
            "{{\"time\": {:.3f}, \"connected\": {}, \"caught_up\": {}, \"recovered\": {}, "
            "\"running\": {}, \"events\": {}, \"bytes\": {}}}\n",
            static_cast<double>(base::monotonic_time_ns()) / static_cast<double>(kNsPerS),
            sum(&Counts::connected),
            sum(&Counts::caught_up),
            sum(&Counts::recovered),
            totals_.running.load(),
            totals_.events.load(),
            totals_.bytes.load());
        std::fflush(stdout);
    }

    const Arguments& arguments_;
    const bench::RecordedTrace& recorded_;
    const base::Log& log_;
    bench::Totals totals_;
    std::vector<Group> groups_;  // last: agents use all the others
};

Result<void> serve(const Arguments& arguments, const base::Log& log) {
    base::allow_all_descriptors();
    TRY(const bench::RecordedTrace recorded, bench::RecordedTrace::load(arguments.trace));
    log.say(fmt::format("{} hosts replay {} events, {} bytes, {:.1f} s",
                        arguments.hosts,
                        recorded.events,
                        recorded.bytes,
                        static_cast<double>(recorded.duration_ns) / static_cast<double>(kNsPerS)));
    const base::Fd signals = base::take_ending_signals();
    transport::quieten_grpc(nullptr);
    TRY(const base::Fd nothing, base::open_file("/dev/null", O_WRONLY));
    const base::Log silence(nothing.get(), false);
    Fleet fleet(arguments, recorded, arguments.talk ? log : silence);
    TRY(fleet.start());
    fleet.run_until(signals);
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    CLI::App app{"Many simulated hosts that replay a recorded trace to one collector"};
    app.add_option("--collector", arguments.collector, "Where it listens: host:port")->required();
    app.add_option("--certificates", arguments.certificates, "Folder that `dyetrace pki` made");
    app.add_flag("--insecure", arguments.insecure, "On loopback, without certificates");
    app.add_option("--hosts", arguments.hosts, "How many: host-0000, host-0001, …")
        ->check(CLI::Range(1u, static_cast<unsigned>(transport::kAgentsMax)));
    app.add_option("--trace", arguments.trace, "What they replay")->required();
    app.add_option("--spools", arguments.spools, "Folder for their spools")->required();
    app.add_option("--speed", arguments.speed, "Times as fast as it was recorded; 0: no pauses")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--threads", arguments.threads, "That the agents share")
        ->check(CLI::Range(1, 64));
    app.add_flag("--talk", arguments.talk, "Let the agents say what they say");
    CLI11_PARSE(app, argc, argv);
    const base::Log log = base::Log::to_stderr();
    if (const Result<void> served = serve(arguments, log); !served.ok()) {
        log.fail(served.error());
        return 1;
    }
    return 0;
}
