#include "query/live/live_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filter/sql_text.h"

namespace dyetrace::query {

std::vector<std::string> LivePlan::explanation() const {
    std::vector<std::string> keys, aggregates;
    for (const filter::Expression& key : grouping_.keys) {
        keys.push_back(filter::sql_text(key));
    }
    for (const filter::Aggregate& aggregate : grouping_.aggregates) {
        constexpr const char* kNames[] = {"count", "sum", "min", "max"};
        aggregates.push_back(fmt::format("{}({})",
                                         kNames[static_cast<std::size_t>(aggregate.kind)],
                                         filter::sql_text(aggregate.argument)));
    }
    std::vector<std::string> lines = watched_;
    lines.push_back(fmt::format("where  {}", grouping_.where.to_sql()));
    lines.push_back(fmt::format("keys   {}", fmt::join(keys, ", ")));
    lines.push_back(fmt::format("count  {}", fmt::join(aggregates, ", ")));
    lines.push_back(fmt::format("answer {}", answer_));
    return lines;
}

Result<void> LivePlan::answer(const std::vector<filter::Group>& groups,
                              std::optional<std::int64_t> window_end,
                              const std::function<Result<void>(store::Rows&)>& each) {
    std::vector<std::vector<store::Field>> rows;
    rows.reserve(groups.size());
    for (const filter::Group& group : groups) {
        std::vector<store::Field>& row = rows.emplace_back();
        for (const filter::Constant& part : group.key) {
            if (const auto* number = std::get_if<filter::Integer>(&part)) {
                row.emplace_back(*number);
            } else if (const auto* text = std::get_if<std::string>(&part)) {
                row.emplace_back(*text);
            } else {
                row.emplace_back();
            }
        }
        for (const filter::Partial& partial : group.partials) {
            row.emplace_back(filter::Integer{partial.count});
            row.emplace_back(partial.count == 0 ? store::Field() : store::Field(partial.value));
        }
        row.emplace_back();
    }
    TRY(engine_.define(fmt::format("DELETE FROM {}", kCounted)));
    TRY(engine_.fill(kCounted, rows));
    if (keeps_answers_) {
        TRY(engine_.define(fmt::format("DELETE FROM {0}; INSERT INTO {0} {1}", kAnswer, answer_)));
    }
    const std::string select = keeps_answers_ ? fmt::format("FROM {}", kAnswer) : answer_;
    return engine_.ask(window_end ? fmt::format("SELECT make_timestamp_ns({}) AS window_end, * "
                                                "FROM ({})",
                                                *window_end,
                                                select)
                                  : select,
                       each);
}

Result<void> LivePlan::keep_answers() {
    TRY(engine_.define(fmt::format("CREATE TABLE {} AS FROM ({}) LIMIT 0", kAnswer, answer_)));
    keeps_answers_ = true;
    return {};
}

Result<bool> LivePlan::has_row(const std::string& condition) {
    const std::string select =
        fmt::format("SELECT coalesce(bool_or(({}\n)::BOOLEAN), false) FROM {}", condition, kAnswer);
    TRY(engine_.columns_of(select));
    bool has = false;
    TRY(engine_.ask(select, [&](store::Rows& rows) -> Result<void> {
        TRY(const std::span<const store::Cell> row, rows.next());
        has = !row.empty() && row[0].text == "true";
        return {};
    }));
    return has;
}

}  // namespace dyetrace::query
