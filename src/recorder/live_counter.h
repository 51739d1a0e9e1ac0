// What counts for a question: the kernel where it can, else here what it hands out.
//
//   TRY(auto counter, LiveCounter::of_events(targets, grouping, host));      or of_probe(targets, probe, grouping)
//   while (…) { counter->listener().wait(ms); counter->drain(); }
//   TRY(counter->take());                                                    counter->table() is complete until now
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "capture/kernel_probe.h"
#include "filter/grouping.h"
#include "recorder/listener.h"
#include "recorder/targets.h"

namespace dyetrace::recorder {

class LiveCounter {
  public:
    // Loaded, and nothing is attached: begin() does.
    static Result<std::unique_ptr<LiveCounter>> of_events(Targets targets,
                                                          const filter::Grouping& grouping,
                                                          const std::string& host);
    static Result<std::unique_ptr<LiveCounter>> of_probe(Targets targets,
                                                         capture::Probe probe,
                                                         const filter::Grouping& grouping);
    virtual ~LiveCounter() = default;

    // The command runs from here on. `without` is the process that answers: nothing of it is counted.
    virtual Result<void> begin(pid_t without);
    virtual void drain() = 0;
    virtual Result<void> take() = 0;
    // Detached; what is left is drained.
    virtual Result<void> end() { return listener_.end(); }

    // "events counted in the kernel: 1,200, here: 3"
    virtual std::string summary() const = 0;
    // What is missing since the beginning; empty: nothing.
    virtual std::string missing() const = 0;

    Listener& listener() { return listener_; }
    filter::GroupTable& table() { return table_; }

  protected:
    LiveCounter(Listener listener, const filter::Grouping& grouping, const std::string& host)
        : listener_(std::move(listener)), table_(grouping, host) {}

    Listener listener_;
    filter::GroupTable table_;
};

}  // namespace dyetrace::recorder
