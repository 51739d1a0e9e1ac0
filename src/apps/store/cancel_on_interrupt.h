// Ctrl-C ends what runs, not the program.
//
//   const CancelOnInterrupt scope;
//   TRY(database.query(sql, each, &scope.cancelled()));      kInterrupted
//
// What must clean up after itself takes all signals that ask for an end:
//
//   const CancelOnInterrupt scope(CancelOnInterrupt::kEndings);
//
// A signal that is ignored stays ignored (nohup, a job in the background).
//
// Limits: one at a time. A second one of the same signal ends the program.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <span>

namespace dyetrace::apps {

class CancelOnInterrupt {
  public:
    static constexpr std::array<int, 3> kEndings = {SIGINT, SIGTERM, SIGHUP};

    explicit CancelOnInterrupt(std::span<const int> signals = std::span(kEndings).first<1>());
    ~CancelOnInterrupt();
    CancelOnInterrupt(const CancelOnInterrupt&) = delete;
    CancelOnInterrupt& operator=(const CancelOnInterrupt&) = delete;

    // Lives as long as the program.
    static const std::atomic<bool>& cancelled();

  private:
    std::span<const int> signals_;
    std::array<struct sigaction, kEndings.size()> before_{};
};

}  // namespace dyetrace::apps
