// The rows of SQL as a file to keep: {"sql": "…", "format": "csv"}; csv, json (an object a line) or parquet.
//
// Limits: kFileBytesMax; whoever wants more takes `dyetrace sql`, which writes as much as there is.
#pragma once

#include <atomic>

#include "api/http_server.h"
#include "store/database.h"

namespace dyetrace::api {

inline constexpr std::size_t kFileBytesMax = 64 << 20;  // held in memory, here and in the browser

Result<Answer> file_answer(store::Database& database,
                           const base::Json& question,
                           const std::atomic<bool>& cancelled);

}  // namespace dyetrace::api
