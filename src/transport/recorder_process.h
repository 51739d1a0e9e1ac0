// The recorder of one session: `dyetrace record` as a child of the agent, into the agent's spool.
//
//   TRY(RecorderProcess recorder, RecorderProcess::start(order));    loads its programs
//   recorder.look()  … kReady      TRY(recorder.go());
//   recorder.look()  … kListening  … recorder.stop() … kEnded
//
// It outlives an agent that is killed: the next agent finds its trace in the spool and adopts it. What it says goes to a file.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace dyetrace::transport {

struct RecorderOrder {
    std::string program;             // `dyetrace`
    std::vector<std::string> words;  // the operator's
    std::string trace;               // folder to make
    std::string said;                // file for its stderr
    std::string host;
    std::uint32_t host_index = 0;
    std::uint64_t segment_records = 0;
};

class RecorderProcess {
  public:
    enum class State { kLoading, kReady, kListening, kEnded };

    static Result<RecorderProcess> start(const RecorderOrder& order);
    // One that another agent started, by its trace; ended if it is gone.
    static RecorderProcess adopt(const std::string& trace);

    State look();
    Result<void> go();
    void stop();
    pid_t pid() const { return pid_; }

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
