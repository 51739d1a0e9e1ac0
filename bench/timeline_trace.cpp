// Writes a trace of a day, to time the timeline over it:
//
//   timeline_trace TRACE EVENTS THREADS      then: dyetrace seal TRACE; dyetrace ui TRACE
//
// Two hosts, eight threads a process. A thread works in bursts of a few hundred calls, a microsecond to a millisecond apart, and waits in between; bursts
// are a second to minutes apart, so that there is something to see from the whole day down to a microsecond. One of 64 calls is a message to a
// thread of the other host, which takes it after 100 µs. Every hour events are lost for a minute.
#include <fmt/format.h>

#include <cstdlib>
#include <deque>
#include <queue>
#include <random>
#include <vector>

#include "simulation/simulated_trace.h"

namespace {

using namespace dyetrace;

constexpr std::uint32_t kHosts = 2, kThreadsEach = 8;
constexpr std::int64_t kDay = 86'400'000'000'000, kHour = kDay / 24, kMinute = kHour / 60;
constexpr std::uint16_t kRead = 0, kWrite = 1, kPoll = 7, kNanosleep = 35, kFsync = 74,
                        kOpenat = 257;

struct Worker {
    std::int64_t next = 0;
    std::uint32_t thread = 0;
    std::uint32_t left = 0;  // of a burst
    bool operator>(const Worker& other) const { return next > other.next; }
};

class Day {
  public:
    Day(const std::string& path, std::uint64_t events, std::uint32_t threads)
        : trace_(path), events_(events), threads_(threads) {
        for (std::uint32_t host = 0; host < kHosts; ++host) {
            simulation::HostPart& part = trace_.add_host(host, 1'700'000'000'000'000'000);
            for (std::uint32_t i = host; i < threads; i += kHosts) {
                const std::uint32_t process = i / kHosts / kThreadsEach;
                part.thread(i + 1,
                            {.pid = 1000 + process * kThreadsEach,
                             .tid = 1000 + i / kHosts,
                             .comm = fmt::format("worker{}", process)});
                part.socket(i + 1, {.connection = 70 + i / kHosts});
            }
        }
    }

    void write() {
        std::priority_queue<Worker, std::vector<Worker>, std::greater<>> workers;
        for (std::uint32_t i = 0; i < threads_; ++i) {
            workers.push(
                {.next = kHour + static_cast<std::int64_t>(random_() % kMinute), .thread = i});
        }
        // A burst has 256 calls on average: the rest of the day is pauses.
        pause_ = kDay / static_cast<std::int64_t>(events_ / threads_ / 256 + 1) * 2;
        for (std::uint64_t i = 0; i < events_; ++i) {
            Worker worker = workers.top();
            workers.pop();
            call(worker);
            workers.push(worker);
        }
        for (std::int64_t hour = 1; hour < 24; ++hour) {
            trace_[0].gap((hour + 1) * kHour, (hour + 1) * kHour + kMinute, 1000);
        }
        trace_.finish();
    }

  private:
    void call(Worker& worker) {
        simulation::SimulatedCall call{
            .at = worker.next, .handle = worker.thread + 1, .context = worker.thread + 1};
        if (worker.left == 0) {
            worker.left = static_cast<std::uint32_t>(1 + random_() % 512);
            call.number = kPoll;
            call.event_class = schema::Class::kWait;
            call.duration_ns = random_() % static_cast<std::uint64_t>(pause_);
            call.off_cpu_ns = call.duration_ns;
        } else {
            --worker.left;
            choose(call, worker.thread);
        }
        trace_[worker.thread % kHosts].call(call);
        worker.next += static_cast<std::int64_t>(call.duration_ns + 200 +
                                                 (std::uint64_t{1} << random_() % 17));
    }

    void choose(simulation::SimulatedCall& call, std::uint32_t thread) {
        constexpr struct {
            std::uint16_t number;
            schema::Class of;
            std::uint64_t usual_ns;
        } kCalls[] = {{kRead, schema::Class::kFile, 4'000},
                      {kWrite, schema::Class::kFile, 9'000},
                      {kRead, schema::Class::kPipe, 30'000},
                      {kOpenat, schema::Class::kMetadata, 12'000},
                      {kFsync, schema::Class::kFile, 3'000'000},
                      {kNanosleep, schema::Class::kWait, 500'000}};
        const std::uint64_t dice = random_() % 64;
        if (dice == 0 && thread % 2 == 0 && thread + 1 < threads_) {
            call.number = simulation::kSendto;
            call.stream_offset = sent_[thread];
            sent_[thread] += simulation::kBytes;
            call.duration_ns = 8'000 + random_() % 8'000;
            on_their_way_[thread + 1].push_back({call.at + 100'000, *call.stream_offset});
            return;
        }
        auto& coming = on_their_way_[thread];
        if (!coming.empty() && coming.front().at <= call.at) {
            call.number = simulation::kRecvfrom;
            call.stream_offset = coming.front().offset;
            call.duration_ns = 5'000;
            coming.pop_front();
            return;
        }
        const auto& chosen = kCalls[dice < 30   ? 0
                                    : dice < 50 ? 1
                                    : dice < 55 ? 2
                                    : dice < 60 ? 3
                                    : dice < 62 ? 4
                                                : 5];
        call.number = chosen.number;
        call.event_class = chosen.of;
        call.duration_ns = chosen.usual_ns / 2 + random_() % chosen.usual_ns;
        call.off_cpu_ns = chosen.usual_ns > 20'000 ? call.duration_ns * 9 / 10 : 0;
        call.fingerprint = 1 + random_() % 40;
    }

    struct Message {
        std::int64_t at;
        std::uint64_t offset;
    };

    simulation::SimulatedTrace trace_;
    std::uint64_t events_;
    std::uint32_t threads_;
    std::int64_t pause_ = 0;
    std::vector<std::uint64_t> sent_ = std::vector<std::uint64_t>(threads_);
    std::vector<std::deque<Message>> on_their_way_ = std::vector<std::deque<Message>>(threads_);
    std::mt19937_64 random_{1};
};

}  // namespace

int main(int count, char** arguments) {
    const std::uint64_t events = count == 4 ? std::strtoull(arguments[2], nullptr, 10) : 0;
    const std::uint64_t threads = count == 4 ? std::strtoull(arguments[3], nullptr, 10) : 0;
    if (events == 0 || threads == 0 || threads > events) {
        fmt::print(stderr,
                   "timeline_trace TRACE EVENTS THREADS: a folder to make, and two numbers\n");
        return 2;
    }
    Day(arguments[1], events, static_cast<std::uint32_t>(threads)).write();
    return 0;
}
