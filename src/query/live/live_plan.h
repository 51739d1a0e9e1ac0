// A statement about events, taken apart: what is counted where events happen, and the statement that makes its answer of the counts.
//
//   SELECT comm, avg(bytes) AS mean FROM events WHERE class = 'file' GROUP BY comm HAVING count(*) > 3 ORDER BY mean
//
//   grouping   where class = 'file'   keys comm   aggregates count(1), sum(bytes)         at the probe (filter/grouping.h)
//   answer     SELECT comm, sum(_v1) / sum(_c1) AS mean FROM counted GROUP BY comm HAVING sum(_c0) > 3 ORDER BY mean
//
// count, sum, min, max and avg are counted; where a statement has another aggregate, or none, its columns are the keys, and each of
// their rows stands in the answer as often as it was counted. A part of WHERE that no condition can say (filter/parser.h) is decided
// after it, on its columns, which are keys; whether the FILTER of an aggregate holds is a key. So every SELECT over `events` alone has an answer, and it is the one that a stored trace
// gives; what differs is how much is counted at the probe, and explanation() says so. It may be a part of a larger statement, by WITH or
// in its FROM: the rest of it is the answer's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "filter/grouping.h"
#include "query/live/live_source.h"
#include "store/rows.h"
#include "store/statement_engine.h"

namespace dyetrace::query {

class LivePlan {
  public:
    // kInvalidArgument: no SELECT over events, or one that a stored trace would refuse, too; kUnsupported: one that is for stored traces.
    // `find` is asked about the probe, if the statement is about one; without it none is known.
    static Result<LivePlan> of(const std::string& statement, const FindProbe& find = {});

    const filter::Grouping& grouping() const { return grouping_; }
    // What is counted at the probe and what is done with the counts, a line each.
    std::vector<std::string> explanation() const;

    // The statement's answer from groups of the grouping, which may come from several hosts: the same key may be there twice.
    // With `window_end`, nanoseconds since 1970, its rows begin with a column of that name.
    Result<void> answer(const std::vector<filter::Group>& groups,
                        std::optional<std::int64_t> window_end,
                        const std::function<Result<void>(store::Rows&)>& each);

    // From here on the last answer is kept, so that has_row() looks at the very rows that were handed out. Of two columns with one name the second gets another.
    Result<void> keep_answers();
    // Whether a row of the last answer, which is kept, has what an expression over its columns asks for. kInvalidArgument: it is none.
    Result<bool> has_row(const std::string& condition);

  private:
    class Maker;  // takes a statement apart
    static constexpr const char* kCounted =
        "_counted";  // a row per group: keys, then _cN and _vN of each aggregate
    static constexpr const char* kRepeated =
        "_repeated";                                   // each of them as often as it was counted
    static constexpr const char* kAnswer = "_answer";  // the last one, where it is kept

    explicit LivePlan(store::StatementEngine engine) : engine_(std::move(engine)) {}

    store::StatementEngine engine_;
    filter::Grouping grouping_;
    std::vector<std::string> watched_, key_names_;
    std::string answer_;
    bool repeats_rows_ = false, keeps_answers_ = false;
};

}  // namespace dyetrace::query
