// What a statement is about: events, or a probe that its FROM names.
//
//   SELECT comm, max(arguments.count) FROM tracepoint('sched', 'sched_switch') GROUP BY comm
//
//   probe    tracepoint('sched', 'sched_switch')      columns comm, arguments.count: who knows the machine says their types
//   then     SELECT comm, max("arguments.count") FROM _probe GROUP BY comm
//
// A name with points, and str(…) of one, is one column afterwards. Two probes are joined as probe_question.h says.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "filter/expression.h"
#include "filter/predicate.h"
#include "filter/probe_question.h"
#include "filter/row.h"
#include "store/statement_engine.h"

namespace dyetrace::query {

using filter::FindProbe;

class LiveSource {
  public:
    // Whether the FROM of a SELECT node itself names events or a probe.
    static bool reads(const base::Json& select);

    // Changes a SELECT node so that DuckDB takes it. kInvalidArgument: it is about something else.
    static Result<LiveSource> of(base::Json& select,
                                 store::StatementEngine& engine,
                                 const FindProbe& find);

    // Where the engine has its columns.
    const std::string& table() const { return table_; }
    // What is watched, a line each; empty: events.
    const std::vector<std::string>& watched() const { return watched_; }

    // The condition or the value that a part of the statement is; nothing: it is more than those can say.
    std::optional<filter::Predicate> condition(const base::Json& tree) const;
    std::optional<filter::Expression> value(const base::Json& tree) const;

    // Nothing: there is no such column. kUnsupported: only a stored trace has it.
    Result<std::optional<filter::Expression>> column(const std::string& name) const;

  private:
    Result<void> use_events(store::StatementEngine& engine);
    Result<void> use_probe(base::Json& select,
                           store::StatementEngine& engine,
                           filter::ProbeQuestion question,
                           const FindProbe& find);
    const filter::RowLayout* row() const { return row_ ? &*row_ : nullptr; }

    std::string table_ = "events";
    std::vector<std::string> watched_;
    std::optional<filter::RowLayout> row_;
};

}  // namespace dyetrace::query
