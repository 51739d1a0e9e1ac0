// Ctrl-C ends what runs, not the program.
//
//   const CancelOnInterrupt scope;
//   TRY(database.query(sql, each, &scope.cancelled()));      kInterrupted
//
// Limits: one at a time. A second Ctrl-C ends the program.
#pragma once

#include <atomic>
#include <csignal>

namespace dyetrace::apps {

class CancelOnInterrupt {
  public:
    CancelOnInterrupt();
    ~CancelOnInterrupt();
    CancelOnInterrupt(const CancelOnInterrupt&) = delete;
    CancelOnInterrupt& operator=(const CancelOnInterrupt&) = delete;

    // Lives as long as the program.
    static const std::atomic<bool>& cancelled();

  private:
    struct sigaction before_ {};
};

}  // namespace dyetrace::apps
