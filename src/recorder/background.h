// Keeps a thread out of the way of everybody else while it keeps up, and makes it one of them while it does not.
//
//   Background background([&](bool hurrying) { return fill() > (hurrying ? 0.01 : 0.1); });   the calling thread
//
// While the answer is no the thread runs under SCHED_IDLE: where no other thread wants the CPU. A CPU that runs nothing else
// counts as free for a thread that wakes, so the programs that are recorded stay where the scheduler had put them; one that competes
// with them makes, for instance, Redis and its client share a CPU (docs/performance.md).
//
// Limits: for the life of the object; the thread has its old scheduling back afterwards. Without the right to leave SCHED_IDLE
// again (RLIMIT_NICE) it is not entered.
#pragma once

#include <sys/types.h>

#include <functional>
#include <stop_token>
#include <thread>

namespace dyetrace::recorder {

class Background {
  public:
    // `must_hurry(hurrying now)` is asked every 10 ms, on a thread of its own.
    explicit Background(std::function<bool(bool)> must_hurry);
    ~Background();
    Background(const Background&) = delete;
    Background& operator=(const Background&) = delete;

  private:
    void watch(const std::stop_token& stop);

    std::function<bool(bool)> must_hurry_;
    pid_t thread_;
    bool possible_;
    std::jthread watcher_;
};

}  // namespace dyetrace::recorder
