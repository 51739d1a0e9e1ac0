#include "query/flows/trace_questions.h"

#include <fmt/format.h>

#include "query/flows/flow_rows.h"
#include "query/named_sql.h"
#include "query/sql.h"
#include "query/twins/derived_twins.h"
#include "schema/text.h"

namespace dyetrace::query {
namespace {

constexpr std::size_t kSimilarNamesMax = 3;  // names that may have been meant

void add_flows(const store::NumberBatch& batch, std::vector<analysis::TrailFlow>& flows) {
    const auto& column = batch.columns;
    for (std::size_t i = 0; i < batch.rows; ++i) {
        flows.push_back({.from_event = column[0][i],
                         .to_event = column[1][i],
                         .from_offset = column[2].value_or(i, analysis::kUnknown),
                         .to_offset = column[3].value_or(i, analysis::kUnknown),
                         .from_position = static_cast<std::uint32_t>(column[4][i]),
                         .to_position = static_cast<std::uint32_t>(column[5][i]),
                         .bytes = static_cast<std::uint32_t>(column[6][i]),
                         .rule = static_cast<schema::FlowRule>(column[7][i]),
                         .certainty = static_cast<schema::Certainty>(column[8][i])});
    }
}

}  // namespace

Result<void> Operations::ask(const Take& take) {
    TRY(make_twins(database_));
    return each_number_row(
        database_,
        filled(sql::kMovesInAnyOrder),
        [&](const auto& columns, std::size_t row) {
            take(operation_in(columns, row), columns[kMoveCall][row]);
        },
        cancelled_);
}

Result<void> Operations::each(const Take& take) {
    if (are_too_many_) {
        return ask(take);
    }
    if (!are_kept_) {
        kept_.clear();
        TRY(ask([&](const analysis::Operation& operation, std::uint64_t call) {
            if (kept_.size() < kept_max_) {
                kept_.push_back({operation, call});
            } else {
                are_too_many_ = true;
            }
            take(operation, call);
        }));
        are_kept_ = !are_too_many_;
        if (are_too_many_) {
            kept_ = {};
        }
        return {};
    }
    for (const Kept& kept : kept_) {
        take(kept.operation, kept.call);
    }
    return {};
}

Result<std::unordered_set<std::uint64_t>> objects_called(store::Database& database,
                                                         const std::string& path) {
    std::unordered_set<std::uint64_t> objects;
    const std::string name = schema::escaped(path);
    TRY(each_row(database, filled(sql::kNamesObjectsCalled, {{"path", name}}), [&](Row row) {
        objects.insert(number_of(row[0]));
    }));
    if (!objects.empty()) {
        return objects;
    }
    TRY(const std::string meant, names_meant(database, path));
    return Error(
        ErrorCode::kNotFound,
        fmt::format("nothing in '{}' was ever called '{}'{}", database.path(), path, meant));
}

Result<std::string> names_meant(store::Database& database, const std::string& path) {
    std::string meant;
    TRY(each_row(
        database,
        filled(sql::kNamesAlike, {{"path", schema::escaped(path)}, {"most", kSimilarNamesMax}}),
        [&](Row row) {
            meant += fmt::format("{} {}", meant.empty() ? "; did you mean" : ",", row[0].text);
            if (!row[1].is_null()) {
                meant += fmt::format(" (where '{}' led)", row[1].text);
            }
        }));
    return meant;
}

Result<std::vector<analysis::TrailFlow>> load_flows(store::Database& database,
                                                    schema::Certainty min_certainty,
                                                    const std::atomic<bool>* cancelled) {
    std::vector<analysis::TrailFlow> flows;
    TRY(each_row(
        database, filled(sql::kFlowsMake), [](Row) {}, cancelled));
    TRY(store::NumberScan scan,
        database.scan_numbers(
            filled(sql::kFlowsPieces, {{"certainty", static_cast<int>(min_certainty)}})));
    for (;;) {
        TRY(const store::NumberBatch* const batch, scan.next());
        if (batch->rows == 0) {
            return flows;
        }
        if (flows.size() + batch->rows > kFlowsMax) {
            return Error(ErrorCode::kLimitReached,
                         fmt::format("'{}' has more than {} flows, which is as many as are held "
                                     "in memory: ask the table flows in SQL",
                                     database.path(),
                                     kFlowsMax));
        }
        add_flows(*batch, flows);
    }
}

Result<std::unordered_map<std::uint64_t, EventLabels>> labels_of_events(
    store::Database& database, const std::vector<std::uint64_t>& events) {
    std::unordered_map<std::uint64_t, EventLabels> labels;
    if (events.empty()) {
        return labels;
    }
    TRY(each_row(database,
                 filled(sql::kNamesPartsOfEvents,
                        {{"ids", SqlPiece{fmt::format("{}", fmt::join(events, ","))}}}),
                 [&](Row row) {
                     labels[number_of(row[0])] = {.who = std::string(row[1].text),
                                                  .name = std::string(row[2].text),
                                                  .path = std::string(row[3].text),
                                                  .path2 = std::string(row[4].text),
                                                  .what = std::string(row[5].text),
                                                  .start_ns = number_of(row[6]),
                                                  .host = std::string(row[7].text),
                                                  .node = std::string(row[8].text)};
                 }));
    return labels;
}

Result<std::string> gaps_between(store::Database& database,
                                 const SharedClock& clock,
                                 std::uint64_t start_ns,
                                 std::uint64_t end_ns) {
    std::uint64_t gaps = 0, lost = 0;
    bool is_more = false;
    TRY(each_row(database, filled(sql::kFlowsGaps), [&](Row row) {
        const std::uint64_t host = number_of(row[0]), last = number_of(row[2]);
        const bool has_end = last != UINT64_MAX;
        if (clock.at_host(host, number_of(row[1])) > end_ns ||
            (has_end && clock.at_host(host, last) < start_ns)) {
            return;
        }
        const std::uint64_t events = number_of(row[3]);
        ++gaps;
        lost += events == UINT64_MAX ? 0 : events;
        is_more = is_more || events == UINT64_MAX;
    }));
    return gaps == 0 ? std::string()
                     : fmt::format("{} gap(s) in this time, {} events lost{}: flows may be missing",
                                   gaps,
                                   lost,
                                   is_more ? " or more" : "");
}

}  // namespace dyetrace::query
