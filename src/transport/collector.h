// The place where the traces of many hosts come together: listens, lets agents and operators do what their certificates say.
//
//   TRY(auto collector, Collector::start(options, log));      listening
//   while (!ended) { TRY(collector->tick()); wait kAcknowledgeMs }  makes durable what arrived, and says so; ends what is over
//
// What arrives is on the disk at once, readable by everybody; an agent deletes its copy only after fdatasync here. Parquet is
// made by another process, one at a time.
//
// Failure: killed at any moment it goes on from what is on the disk. Limits: limits.h.
#pragma once

#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "transport/security.h"

namespace dyetrace::transport {

struct CollectorOptions {
    std::string listen;  // host:port; port 0 takes a free one
    std::string store;   // folder of traces
    Security security;
    std::string program;  // `dyetrace`, for `seal`
};

class Collector {
  public:
    static Result<std::unique_ptr<Collector>> start(CollectorOptions options, const base::Log& log);
    ~Collector();

    int port() const;
    // The error of a disk that lost what was written: the collector ends.
    Result<void> tick();

    struct State;

  private:
    explicit Collector(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace dyetrace::transport
