// The recorder of one session: `dyetrace record` as a child of the agent, into the agent's spool.
//
// It outlives an agent that is killed: the next agent finds its trace in the spool and adopts it. What it says goes to a file.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "transport/recorder.h"

namespace dyetrace::transport {

class RecorderProcess final : public Recorder {
  public:
    static Result<std::unique_ptr<Recorder>> start(const RecorderOrder& order);
    // One that another agent started, by its trace; ended if it is gone.
    static std::unique_ptr<Recorder> adopt(const std::string& trace);

    State look() override;
    Result<void> go() override;
    void stop() override;
    pid_t pid() const override { return pid_; }

  private:
    explicit RecorderProcess(std::string trace) : trace_(std::move(trace)) {}
    void hear();
    bool has_ended();

    std::string trace_;
    State state_ = State::kLoading;
    pid_t pid_ = -1;
    bool is_child_ = false;
    base::Fd process_;  // pidfd: never means another process
    base::Fd control_;
    std::string heard_;
};

}  // namespace dyetrace::transport
