// What an agent and the recorder that it started say to each other, a line each, on a socket that the recorder inherits
// (`record --control-fd N`):
//
//   recorder   ready        programs loaded, nothing attached: starting cannot fail for lack of rights or memory any more
//   agent      go           all hosts of the session are ready
//   recorder   listening    attached: what happens from here on is in the trace
//
// After that the socket means nothing: an agent that dies does not end its recorder, a signal does.
#pragma once

#include "base/fd.h"
#include "base/result.h"

namespace dyetrace::recorder {

class Listener;

class Control {
  public:
    Control() = default;  // nobody's: nothing is waited for
    // -1: nobody's. kInvalidArgument if it is no open descriptor.
    static Result<Control> take(int number);

    bool held() const { return socket_.valid(); }

    // Says that it is ready and waits for the word, then leaves the agent's own I/O out. kInterrupted if the agent goes away
    // before it, or a signal comes.
    Result<void> await_go(Listener& listener) const;
    void say_listening() const;

  private:
    explicit Control(base::Fd socket) : socket_(std::move(socket)) {}
    void say(const char* line) const;

    base::Fd socket_;
};

}  // namespace dyetrace::recorder
