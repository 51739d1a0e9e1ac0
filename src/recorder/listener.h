// Listening to somebody for a while: what record, trace, top and stat have in common.
//
//   TRY(Listener listener, Listener::start(targets, capture_options));   programs loaded, the command waits, nothing is lost
//   TRY(listener.begin());                                              attached; the command runs
//   while (!listener.ended()) { listener.wait(ms); … drain … }
//   TRY(listener.end());                                                detached; drain once more
//
// Signals are taken in wait(). Ctrl-C reaches a command by itself and the listener ends with it; a second Ctrl-C does not
// wait for that. A signal sent to the recorder alone is passed on to the command, or ends the listener if there is none.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "capture/capture.h"
#include "recorder/child.h"
#include "recorder/targets.h"

namespace dyetrace::recorder {

class Listener {
  public:
    static Result<Listener> start(Targets targets, capture::CaptureOptions options);

    // Counts totals only: once it is attached the command runs, nothing but names comes out of the rings.
    static Result<Listener> start_counting(Targets targets);

    Result<void> attach();
    // Lets the command go.
    Result<void> release();
    bool ended();
    void stop() { stop_ = true; }
    bool stopped() const { return stop_; }
    // For so long, or until a signal comes or a ring fills up.
    void wait(int milliseconds);
    Result<void> end() { return capture_.stop(); }

    // wait()'s status of the command; waits for it if it still runs. Nothing if there is none.
    std::optional<int> command_status();

    capture::Capture& capture() { return capture_; }
    const capture::Capture& capture() const { return capture_; }
    std::int64_t started_ns() const { return started_ns_; }
    // What this kernel refuses, with the reason, and what no recording sees, by name: a line each.
    std::vector<std::string> unseen() const;

  private:
    Listener(Targets targets, capture::Capture capture)
        : targets_(std::move(targets)), capture_(std::move(capture)) {}
    Result<void> watch_processes();
    bool targets_ended();
    void take_signal(int number, bool from_terminal);

    Targets targets_;
    capture::Capture capture_;
    std::optional<Child> child_;
    std::vector<base::Fd> processes_;  // the ones that were named
    base::Fd signals_;
    std::int64_t started_ns_ = 0;
    int interrupts_ = 0;
    bool stop_ = false;
};

}  // namespace dyetrace::recorder
