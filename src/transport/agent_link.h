// The one connection of an agent, made by it: messages go up and come down; when it breaks, it says why, once.
//
//   AgentLink link(address, security);
//   link.open(hello);
//   while (link.is_open()) { for (auto& message : link.received()) …; if (link.has_room()) link.send(…); link.wait(ms); }
//   link.failure()                                why it is not open
//
// gRPC's own threads read and write; the caller is one thread. At most kQueuedMax messages wait to be written, so memory is
// bounded and nothing blocks when the network does.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "transport/fleet.pb.h"
#include "transport/security.h"

namespace dyetrace::transport {

class AgentLink {
  public:
    AgentLink(std::string address, Security security);
    AgentLink(AgentLink&&) noexcept;
    ~AgentLink();

    // Begins to connect; hello is the first thing said.
    Result<void> open(fleet::FromAgent hello);
    bool is_open() const;
    // Why it ended; nothing while it is open, or once asked.
    std::optional<Error> take_failure();

    bool has_room() const;
    void send(fleet::FromAgent message);
    std::vector<fleet::ToAgent> take_received();

    // Until something came, there is room again, or so many milliseconds.
    void wait(int milliseconds) const;

  private:
    class Stream;

    std::string address_;
    Security security_;
    std::unique_ptr<Stream> stream_;
};

}  // namespace dyetrace::transport
