// The steps of all hosts for CausalOrder, out of a table of edges that holds still meanwhile.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/causality/causal_order.h"
#include "store/database.h"

namespace dyetrace::query {

// What there is to put in order.
struct CauseQuestion {
    std::vector<std::string>
        candidates;  // statements of sql/cause_rules.sql that make internal.cause_candidates
    bool with_events = false;  // each event of the trace, too
    bool with_clock = false;   // edges between hosts are held against their clocks
};

class CauseSteps {
  public:
    static Result<std::shared_ptr<CauseSteps>> start(store::Database& database,
                                                     const CauseQuestion& question);
    ~CauseSteps();
    CauseSteps(const CauseSteps&) = delete;
    CauseSteps& operator=(const CauseSteps&) = delete;

    // Some thousand steps further: `out` holds what came of them. False: there are no more.
    Result<bool> advance();

    analysis::OrderedSteps out;

  private:
    explicit CauseSteps(store::Database& database) : database_(&database) {}

    store::Database* database_;
    std::unique_ptr<analysis::CausalOrder> order_;
};

}  // namespace dyetrace::query
