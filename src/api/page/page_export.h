// What the page shows, as a file for another tool: {"format": "perfetto", "selection": {…}}; perfetto, otlp or pcapng.
//
// The file has no name and goes with its descriptor: whatever ends the program leaves nothing behind.
//
// Limits: kSavedBytesMax, and the time that an answer may take; whoever wants more takes `dyetrace export`.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "api/http_server.h"
#include "query/selected_events.h"
#include "store/database.h"

namespace dyetrace::api {

// On disk below $TMPDIR while it is made, and as much of it in the browser, which keeps it until it is saved.
inline constexpr std::uint64_t kSavedBytesMax = std::uint64_t{512} << 20;

// `clock` is the one that the database shows times with.
Result<api::Answer> export_answer(store::Database& database,
                                  query::SelectedEvents& trace,
                                  std::string_view clock,
                                  const base::Json& question,
                                  const std::atomic<bool>& cancelled);

}  // namespace dyetrace::api
