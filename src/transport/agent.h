// An agent: records on this host what a collector asks for, and ships it there.
//
//   TRY(auto agent, Agent::start(options, log));
//   while (!ended) { agent->tick(); }                returns after that long, or when there was something to do
//
// Each session has a recorder of its own, a child that writes an ordinary trace into the spool and knows nothing of the network:
// whatever happens to the connection, to the collector or to this process, the traced program waits for nobody.
//
// Limits: AgentOptions; what is on its way to the collector is bounded by kInFlightBytesMax. One thread besides gRPC's own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "transport/limits.h"
#include "transport/own_limits.h"
#include "transport/recorder_process.h"
#include "transport/security.h"

namespace dyetrace::transport {

struct AgentOptions {
    std::string collector;  // host:port
    std::string host;       // as which it writes
    std::string spool;      // folder
    std::string program;    // `dyetrace`, for `record`
    std::vector<std::string>
        always;  // arguments of this host's that each recording has before the operator's
    Security security;
    std::uint64_t spool_bytes_max = kSpoolBytesDefault;
    LimitOptions limits;
    StartRecorder start_recorder = &RecorderProcess::start;
};

class Agent {
  public:
    static Result<std::unique_ptr<Agent>> start(AgentOptions options, const base::Log& log);
    ~Agent();

    void tick(int wait_ms = kPollMs);
    // The collector has answered since the connection began.
    bool is_connected() const;
    // At the last tick it was connected, and all that its recorders had written was acknowledged.
    bool has_caught_up() const;

  private:
    struct State;
    explicit Agent(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace dyetrace::transport
