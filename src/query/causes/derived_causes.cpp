#include "query/causes/derived_causes.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/causality/handover.h"
#include "base/log.h"
#include "query/asked_rows.h"
#include "query/causes/cause_steps.h"
#include "query/named_sql.h"
#include "query/sql.h"
#include "query/twins/derived_twins.h"
#include "schema/derived_tables.h"

namespace dyetrace::query {
namespace {

using Numbers = std::vector<std::uint64_t>;
using schema::ContradictionKind;

template <typename Enum>
std::uint64_t unsigned_of(Enum value) {
    return static_cast<std::uint64_t>(value);
}

// Raised whenever the rules give other edges for the same events.
constexpr std::uint32_t kCauseRulesVersion = 9;

// As sql/handovers.sql gives them.
enum HandoverColumn : std::uint8_t {
    kActIsEnd,
    kActEvent,
    kActThread,
    kActStart,
    kActEnd,
    kActKind,
    kActKey,
    kActHolder,
    kActRangeBegin,
    kActRangeEnd,  // NULL: no end
    kActColumns,
};

// Each rule has a statement of its own.
Result<std::vector<std::string>> candidates(store::Database& database) {
    std::uint64_t datagrams = 0;
    TRY(each_row(database, filled(sql::kCauseRulesHasDatagrams), [&](Row row) {
        datagrams = number_of(row[0]);
    }));
    std::vector<std::string> statements;
    for (const std::string_view text : {sql::kCauseRulesMakePlaces,
                                        sql::kCauseRulesMakeThreads,
                                        sql::kCauseRulesMakeCalls,
                                        sql::kCauseRulesMakeFound,
                                        sql::kCauseRulesBytesMoved,
                                        sql::kCauseRulesHandedOver,
                                        sql::kCauseRulesForked,
                                        sql::kCauseRulesWaited,
                                        sql::kCauseRulesJoined,
                                        sql::kCauseRulesReplaced,
                                        sql::kCauseRulesTold,
                                        sql::kCauseRulesConnected,
                                        sql::kCauseRulesEnded,
                                        sql::kCauseRulesRenamed,
                                        sql::kCauseRulesDelivered,
                                        sql::kCauseRulesImported,
                                        sql::kCauseRulesCandidates}) {
        if (text != sql::kCauseRulesDelivered || datagrams > 0) {
            statements.push_back(filled(text));
        }
    }
    return statements;
}

Result<void> make_first(store::Database& database, std::string_view statement) {
    return database.query(filled(statement), [](store::Rows&) { return Result<void>(); });
}

class HandoverRows {
  public:
    explicit HandoverRows(store::NumberScan scan) : scan_(std::move(scan)) {}

    Result<void> next(Numbers& numbers) {
        while (found_.empty()) {
            TRY(const store::NumberBatch* const batch, scan_.next());
            if (batch->rows == 0) {
                tell_forgotten();
                return {};
            }
            for (std::size_t row = 0; row < batch->rows; ++row) {
                take(batch->columns, row);
            }
        }
        for (const analysis::Handover& each : found_) {
            numbers.insert(numbers.end(),
                           {each.from_event, each.to_event, static_cast<std::uint64_t>(each.rule)});
        }
        found_.clear();
        return {};
    }

  private:
    void take(const store::NumberColumns& columns, std::size_t row) {
        const analysis::HandoverAct act = {
            .kind = static_cast<analysis::ActKind>(columns[kActKind][row]),
            .event = columns[kActEvent][row],
            .thread = columns[kActThread][row],
            .start_ns = columns[kActStart][row],
            .end_ns = columns[kActEnd][row],
            .key = columns[kActKey][row],
            .holder = columns[kActHolder][row],
            .range = {columns[kActRangeBegin][row],
                      columns[kActRangeEnd].value_or(row, std::uint64_t{UINT64_MAX})}};
        if (columns[kActIsEnd][row] == 0) {
            engine_.starts(act, found_);
        } else {
            engine_.ends(act, found_);
        }
    }
    void tell_forgotten() const {
        if (engine_.forgotten() > 0) {
            base::Log::to_stderr().warn(
                fmt::format("handovers: {} older calls on one futex, lock, counter or signal were "
                            "forgotten; edges from them are missing",
                            engine_.forgotten()));
        }
    }

    store::NumberScan scan_;
    analysis::HandoverEngine engine_;
    std::vector<analysis::Handover> found_;
};

Result<store::RowSource> start_handovers(store::Database& database) {
    TRY(make_twins(database));
    TRY(store::NumberScan scan, database.scan_numbers(filled(sql::kHandoversActs)));
    const auto rows = std::make_shared<HandoverRows>(std::move(scan));
    return store::RowSource([rows](Numbers& numbers) { return rows->next(numbers); });
}

Result<std::shared_ptr<CauseSteps>> start_edges(store::Database& database) {
    TRY(make_first(database, sql::kFlowsMake));
    TRY(make_first(database, sql::kCausesMakeHandovers));
    TRY(std::vector<std::string> statements, candidates(database));
    return CauseSteps::start(database, {.candidates = std::move(statements), .with_clock = true});
}

void append(const analysis::CauseEdge& edge, Numbers& numbers) {
    numbers.insert(numbers.end(),
                   {edge.from_event,
                    edge.from_thread,
                    edge.from_at,
                    edge.to_event,
                    edge.to_thread,
                    edge.to_at,
                    edge.from_rank,
                    edge.to_rank,
                    static_cast<std::uint64_t>(edge.rule)});
}

void append(const analysis::EventRank& event, Numbers& numbers) {
    const analysis::EventPlace& place = event.place;
    numbers.insert(numbers.end(), {place.event, place.thread, place.begin, place.end, event.rank});
}

// Rows of one kind out of what the order gives.
template <typename Row>
store::RowSource rows_of(std::shared_ptr<CauseSteps> steps,
                         std::vector<Row> analysis::OrderedSteps::*kind) {
    return
        [steps = std::move(steps), kind, goes_on = true](Numbers& numbers) mutable -> Result<void> {
            while (goes_on && numbers.empty()) {
                TRY(goes_on, steps->advance());
                for (const Row& row : steps->out.*kind) {
                    append(row, numbers);
                }
            }
            return {};
        };
}

// Each contradiction is a row for each edge that it takes; the first is the one that is left out.
class ContradictionRows {
  public:
    ContradictionRows(std::shared_ptr<CauseSteps> steps, store::NumberScan others)
        : steps_(std::move(steps)), others_(std::move(others)) {}

    Result<void> next(Numbers& numbers) {
        while (goes_on_ && numbers.empty()) {
            TRY(goes_on_, steps_->advance());
            for (const analysis::CauseCycle& cycle : steps_->out.cycles) {
                append_cycle(cycle, numbers);
            }
            for (const analysis::LateEdge& late : steps_->out.late) {
                append_late(late, numbers);
            }
        }
        return numbers.empty() ? next_of_others(numbers) : Result<void>();
    }

  private:
    void append_cycle(const analysis::CauseCycle& cycle, Numbers& numbers) {
        ++number_;
        for (std::size_t place = 0; place < cycle.edges.size(); ++place) {
            const analysis::CauseEdge& edge = cycle.edges[place];
            append({.place = place,
                    .kind = ContradictionKind::kCycle,
                    .cause = unsigned_of(analysis::likely_cause(cycle)),
                    .rule = unsigned_of(edge.rule),
                    .from_event = edge.from_event,
                    .to_event = edge.to_event},
                   numbers);
        }
    }
    void append_late(const analysis::LateEdge& late, Numbers& numbers) {
        const auto ns = [](auto instant) { return static_cast<std::uint64_t>(instant.ns()); };
        ++number_;
        append({.kind = ContradictionKind::kClock,
                .cause = unsigned_of(analysis::likely_cause(late)),
                .rule = late.is_left_out ? unsigned_of(late.edge.rule) : schema::kDerivedNull,
                .from_event = late.edge.from_event,
                .to_event = late.edge.to_event,
                .times = {ns(late.given.earliest),
                          ns(late.given.latest),
                          ns(late.taken.earliest),
                          ns(late.taken.latest)}},
               numbers);
    }
    Result<void> next_of_others(Numbers& numbers) {
        TRY(const store::NumberBatch* const batch, others_.next());
        for (std::size_t row = 0; row < batch->rows; ++row) {
            ++number_;
            append({.kind = static_cast<ContradictionKind>(batch->columns[0][row]),
                    .cause = batch->columns[1][row],
                    .rule = batch->columns[2].value_or(row, schema::kDerivedNull),
                    .from_event = batch->columns[3].value_or(row, schema::kDerivedNull),
                    .to_event = batch->columns[4].value_or(row, schema::kDerivedNull)},
                   numbers);
        }
        return {};
    }

    struct Line {
        std::uint64_t place = 0;
        ContradictionKind kind = ContradictionKind::kCycle;
        std::uint64_t cause = 0, rule = 0;
        std::uint64_t from_event = 0, to_event = 0;
        // Between which cluster time was when from_event began, and when to_event ended.
        std::array<std::uint64_t, 4> times = {
            schema::kDerivedNull, schema::kDerivedNull, schema::kDerivedNull, schema::kDerivedNull};
    };
    void append(const Line& line, Numbers& numbers) const {
        numbers.insert(numbers.end(),
                       {number_,
                        line.place,
                        unsigned_of(line.kind),
                        line.cause,
                        line.rule,
                        line.from_event,
                        line.to_event});
        numbers.insert(numbers.end(), line.times.begin(), line.times.end());
    }

    std::shared_ptr<CauseSteps> steps_;
    store::NumberScan others_;
    std::uint64_t number_ = 0;
    bool goes_on_ = true;
};

Result<store::RowSource> start_contradictions(store::Database& database) {
    TRY(auto steps, start_edges(database));
    TRY(store::NumberScan others, database.scan_numbers(filled(sql::kContradictionsAlone)));
    const auto rows = std::make_shared<ContradictionRows>(std::move(steps), std::move(others));
    return store::RowSource([rows](Numbers& numbers) { return rows->next(numbers); });
}

}  // namespace

void offer_causes(store::Database& database) {
    offer_twins(database);
    database.register_table({"handovers", kCauseRulesVersion, start_handovers});
    database.register_table(
        {"edges", kCauseRulesVersion, [](store::Database& asked) -> Result<store::RowSource> {
             TRY(auto steps, start_edges(asked));
             return rows_of(std::move(steps), &analysis::OrderedSteps::edges);
         }});
    database.register_table({"contradictions", kCauseRulesVersion, start_contradictions});
    database.register_table(
        {"causal_clocks",
         kCauseRulesVersion,
         [](store::Database& asked) -> Result<store::RowSource> {
             TRY(make_twins(asked));
             TRY(make_first(asked, sql::kCausesMakeEdges));
             TRY(auto steps,
                 CauseSteps::start(asked,
                                   {.candidates = {filled(sql::kCauseRulesOrderedCandidates)},
                                    .with_events = true}));
             return rows_of(std::move(steps), &analysis::OrderedSteps::events);
         }});
}

}  // namespace dyetrace::query
