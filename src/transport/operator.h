// What an operator may ask a collector for: begin a session and look on, stop it, list all.
//
//   TRY(watch_session(address, security, request, [](const auto& now) { … return !now.recording(); }));
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "transport/fleet.pb.h"
#include "transport/security.h"

namespace dyetrace::transport {

// Shows progress to `look` until it returns false (then the watch ends, the session goes on), the session ends, or the
// connection does: kUnavailable, and the session may be watched again by its id.
Result<void> watch_session(const std::string& address,
                           const Security& security,
                           const fleet::RecordRequest& request,
                           const std::function<bool(const fleet::RecordProgress&)>& look);

Result<void> stop_session(const std::string& address,
                          const Security& security,
                          const std::string& session);

Result<fleet::SessionsReply> list_sessions(const std::string& address, const Security& security);

}  // namespace dyetrace::transport
