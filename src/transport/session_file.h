// session.json: what a collector that comes back has to know of a session.
//
//   {"session": "20261122T094512-ab12", "phase": 1, "all_hosts": true, "arguments": ["-a"], "duration_ns": 0,
//    "hosts": [{"host": "db1", "index": 0, "phase": 2}]}
#pragma once

#include <string>

#include "base/result.h"
#include "transport/sessions.h"

namespace dyetrace::transport {

Result<void> write_session(const Session& session);
// The session whose trace is at `path`; kNotFound if there is none.
Result<Session> read_session(const std::string& path);

}  // namespace dyetrace::transport
