// How a running recording is reached: a socket `control` in the folder of its trace.
//
//   dyetrace dye add t card=…  ── request, one packet ──►  recorder: serve() between two looks at the rings
//                              ◄── answer, one packet ──
//
// A packet is fields with NUL between them; the last field of a request may hold any byte. An answer begins with "ok", or with
// "failed" and why. Only the recorder's own user and root are listened to: the file's mode says so, and who calls is looked at.
//
// Limits: 1 KiB of a request, 32 KiB of an answer; 8 callers at a time, who have five seconds to speak.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace dyetrace::recorder {

inline constexpr std::size_t kControlRequestMax = 1024;  // a name, a text of 256 bytes and forms
inline constexpr std::size_t kControlAnswerMax = 32 * 1024;

using ControlMessage = std::vector<std::string>;

class DyeControl {
  public:
    // The socket is gone when this is.
    static Result<DyeControl> listen(const std::string& folder);

    DyeControl(DyeControl&&) noexcept = default;
    DyeControl& operator=(DyeControl&&) = delete;
    ~DyeControl();

    // Answers who has asked; never waits.
    void serve(const std::function<ControlMessage(const ControlMessage&)>& answer);

  private:
    struct Caller {
        base::Fd socket;
        std::int64_t since_ns = 0;
    };

    DyeControl(base::Fd folder, base::Fd socket)
        : folder_(std::move(folder)), socket_(std::move(socket)) {}
    void accept_callers();

    base::Fd folder_;
    base::Fd socket_;
    std::vector<Caller> callers_;
};

// The fields after "ok". kNotFound: nobody listens there.
Result<ControlMessage> ask_recorder(const std::string& folder, const ControlMessage& request);

}  // namespace dyetrace::recorder
