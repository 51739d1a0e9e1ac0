// SQL as a question: {"sql": "…", "rows_max": 1000} becomes
//
//   {"columns": [{"name": "path", "kind": "text"}], "rows": [["/etc/hosts"]], "is_cut": false}
//
// kind: null, bool, number, text, nested. A whole number that JavaScript does not hold exactly is text in its cell. Of several statements the rows
// are those of the last one that gives any.
#pragma once

#include <atomic>

#include "api/http_server.h"
#include "store/database.h"

namespace dyetrace::api {

inline constexpr std::size_t kRowsMax = 100'000;
inline constexpr std::size_t kAnswerBytesMax = 32 << 20;  // what a browser shows without pain

Result<Answer> query_answer(store::Database& database,
                            const base::Json& question,
                            const std::atomic<bool>& cancelled);

// The same of a statement that the question does not say itself.
Result<Answer> rows_answer(store::Database& database,
                           const std::string& sql,
                           const base::Json& question,
                           const std::atomic<bool>& cancelled);

}  // namespace dyetrace::api
