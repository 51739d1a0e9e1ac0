// Who writes the trace of a session into an agent's spool.
//
//   TRY(auto recorder, start(order));                                kLoading
//   recorder->look()  … kReady      TRY(recorder->go());
//   recorder->look()  … kListening  … recorder->stop() … kEnded
//
// RecorderProcess is the one that records; simulated fleets have others (bench/replay.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace dyetrace::transport {

struct RecorderOrder {
    std::string program;                 // `dyetrace`
    std::vector<std::string> arguments;  // the operator's
    std::string trace;                   // folder to make
    std::string said;                    // file for its stderr
    std::string host;
    std::uint32_t host_index = 0;
    std::uint64_t segment_records = 0;
};

class Recorder {
  public:
    enum class State { kLoading, kReady, kListening, kEnded };

    Recorder() = default;
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;
    virtual ~Recorder() = default;

    // Asked at every tick of the agent.
    virtual State look() = 0;
    virtual Result<void> go() = 0;
    virtual void stop() = 0;
    // Whose memory counts as the agent's; -1: of no other process.
    virtual pid_t pid() const = 0;
};

using StartRecorder = std::function<Result<std::unique_ptr<Recorder>>(const RecorderOrder&)>;

}  // namespace dyetrace::transport
