#include "query/causes/cause_functions.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/causality/event_places.h"
#include "analysis/causality/happened_before.h"
#include "query/asked_rows.h"
#include "query/loaded.h"
#include "query/named_sql.h"
#include "query/sql.h"
#include "schema/derived_tables.h"

namespace dyetrace::query {
namespace {

using analysis::Cone;
using analysis::EventPlace;
using analysis::HappenedBefore;
using store::NumberFunction;
using Columns = std::span<const std::span<const std::uint64_t>>;
using Answers = std::span<std::uint64_t>;

struct KnownOrder {
    std::optional<HappenedBefore> order;
    analysis::EventPlaces places;
};

Result<std::shared_ptr<const KnownOrder>> load_order(store::Database& database) {
    auto known = std::make_shared<KnownOrder>();
    std::vector<analysis::CauseEdge> edges;
    TRY(each_number_row(
        database, filled(sql::kCausesEdges), [&](const auto& columns, std::size_t row) {
            edges.push_back({columns[0][row],
                             columns[1][row],
                             columns[2][row],
                             columns[3][row],
                             columns[4][row],
                             columns[5][row],
                             columns[6][row],
                             columns[7][row],
                             static_cast<schema::CauseRule>(columns[8][row])});
        }));
    known->order.emplace(edges);
    TRY(each_number_row(
        database, filled(sql::kCausesPlaces), [&](const auto& columns, std::size_t row) {
            known->places.add({columns[0][row], columns[1][row], columns[2][row], columns[3][row]},
                              columns[4][row]);
        }));
    return std::shared_ptr<const KnownOrder>(std::move(known));
}

using LoadedOrder = Loaded<KnownOrder>;

// Answers for a chunk. Where an event stays the same from row to row, a cone of it answers the others.
class Asker {
  public:
    explicit Asker(const HappenedBefore& order) : order_(order) {}

    bool happened_before(const EventPlace& a, const EventPlace& b) {
        if (same_as_last(a, last_a_)) {
            if (!after_ || after_->of != a) {
                after_ = order_.after(a);
            }
            last_b_ = b;
            return order_.in_future(b, *after_);
        }
        if (same_as_last(b, last_b_)) {
            if (!before_ || before_->of != b) {
                before_ = order_.before(b);
            }
            return order_.in_past(a, *before_);
        }
        return order_.between(a, b);
    }

  private:
    static bool same_as_last(const EventPlace& place, std::optional<EventPlace>& last) {
        const bool same = last == place;
        last = place;
        return same;
    }

    const HappenedBefore& order_;
    std::optional<EventPlace> last_a_, last_b_;
    std::optional<Cone> after_, before_;
};

Result<void> compare(LoadedOrder& loaded, bool concurrent, Columns columns, Answers answers) {
    TRY(const std::shared_ptr<const KnownOrder> known, loaded.get());
    Asker forward(*known->order), back(*known->order);
    for (std::size_t row = 0; row < answers.size(); ++row) {
        const auto a = known->places.find(columns[0][row]), b = known->places.find(columns[1][row]);
        if (!a || !b) {
            answers[row] = schema::kDerivedNull;
        } else if (a->event == b->event) {
            answers[row] = 0;
        } else if (concurrent) {
            answers[row] = !forward.happened_before(*a, *b) && !back.happened_before(*b, *a);
        } else {
            answers[row] = forward.happened_before(*a, *b);
        }
    }
    return {};
}

Result<void> rank(LoadedOrder& loaded, Columns columns, Answers answers) {
    TRY(const std::shared_ptr<const KnownOrder> known, loaded.get());
    for (std::size_t row = 0; row < answers.size(); ++row) {
        answers[row] = known->places.rank(columns[0][row]).value_or(schema::kDerivedNull);
    }
    return {};
}

}  // namespace

Result<void> register_cause_functions(store::Database& database) {
    const auto loaded = std::make_shared<LoadedOrder>(database, &load_order);
    const std::vector<std::string> needs = {"edges", "causal_clocks", "twins"};
    for (const bool concurrent : {false, true}) {
        TRY(database.register_function(
            NumberFunction{.name = concurrent ? "_concurrent" : "_happened_before",
                           .arguments = 2,
                           .is_condition = true,
                           .needs = needs,
                           .call = [loaded, concurrent](Columns columns, Answers answers) {
                               return compare(*loaded, concurrent, columns, answers);
                           }}));
    }
    TRY(database.register_function(
        NumberFunction{.name = "_logical_order",
                       .arguments = 1,
                       .is_condition = false,
                       .needs = needs,
                       .call = [loaded](Columns columns, Answers answers) {
                           return rank(*loaded, columns, answers);
                       }}));
    database.define(filled(sql::kCauseFunctions));
    return {};
}

}  // namespace dyetrace::query
