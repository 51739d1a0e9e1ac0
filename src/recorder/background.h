// Keeps a thread out of the way of everybody else while it keeps up, and makes it one of them while it does not.
//
//   Background background([&](bool hurrying) { return fill() > (hurrying ? 0.01 : 0.1); }, alarm);   the calling thread
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
#include <thread>

#include "base/fd.h"

namespace dyetrace::recorder {

// Whether who has entered SCHED_IDLE may leave it again, which takes CAP_SYS_NICE or RLIMIT_NICE. A thread tries it that is gone afterwards.
bool may_leave_idle();

class Background {
  public:
    // `must_hurry(hurrying now)` is asked every 10 ms on a thread of its own, and as soon as `alarm` is readable. -1: there is none.
    Background(std::function<bool(bool)> must_hurry, int alarm);
    ~Background();
    Background(const Background&) = delete;
    Background& operator=(const Background&) = delete;

  private:
    void watch();
    bool rest(bool hurrying) const;

    std::function<bool(bool)> must_hurry_;
    int alarm_;
    base::Fd stop_;  // readable: the object ends
    pid_t thread_;
    bool possible_;
    std::jthread watcher_;
};

}  // namespace dyetrace::recorder
