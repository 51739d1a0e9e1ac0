// Asks a trace what moved to or from one object, and what of its content can be given back.
//
//   TRY(const CatAnswer answer, read_cat(database, payload, {.paths = {"app.conf", "/srv/app.conf"}}));
//   for (const CatStretch& stretch : answer.plan) … payload.bytes_at(*stretch.part) …
//
// Memory: 200 bytes for each move, of which there are kMovesMax at most.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_range.h"
#include "base/result.h"
#include "query/payload/trace_payload.h"
#include "reports/rebuild/cat_plan.h"
#include "store/database.h"

namespace dyetrace::reports {

struct CatQuestion {
    // One of these. The first path is what people are told; any of them may be the name.
    std::vector<std::string> paths = {};
    std::uint64_t object = 0, connection = 0;

    std::string direction = {};  // in, out; empty: both of a file, the only one of a stream
    base::ByteRange range = {};
};

struct CatAnswer {
    bool is_file = false;  // zeros stand for what is missing; of a stream it is left out
    std::vector<CatStretch> plan;
    std::uint64_t uncertain = 0;  // calls on one file position that overlapped
};

// kNotFound: nothing moved to or from it. kInvalidArgument: several objects are meant, or two directions. kLimitReached: too many moves.
Result<CatAnswer> read_cat(store::Database& database,
                           query::TracePayload& payload,
                           const CatQuestion& question);

}  // namespace dyetrace::reports
