#include "query/causes/cause_steps.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "query/asked_rows.h"
#include "query/causes/cause_rows.h"
#include "query/clock/shared_clock.h"

namespace dyetrace::query {
namespace {

using analysis::CauseStep;
using analysis::StepKind;

constexpr const char* kTable = "internal.cause_candidates";

// Steps of one host. What is given at a moment may be taken at it.
std::string steps_sql(std::uint64_t host, bool with_events) {
    std::string steps = fmt::format(
        "SELECT from_at AS moment, {0} AS kind, from_thread AS thread, from_event AS event, edge, "
        "0::UBIGINT AS other_host, 0::UBIGINT AS other_event, 0::UBIGINT AS other_thread, "
        "0::UBIGINT AS other_at, 0::UTINYINT AS rule FROM {2} WHERE from_host = {3} UNION ALL "
        "SELECT to_at, {1}, to_thread, to_event, edge, from_host, from_event, from_thread, "
        "from_at, rule FROM {2} WHERE to_host = {3}",
        static_cast<int>(StepKind::kGives),
        static_cast<int>(StepKind::kTakes),
        kTable,
        host);
    if (with_events) {
        steps += fmt::format(
            " UNION ALL SELECT end_ns, {}, thread, event, 0::UBIGINT, 0::UBIGINT, 0::UBIGINT, "
            "0::UBIGINT, begin_ns, 0 FROM ({}) WHERE "
            "event >> 54 = {}",
            static_cast<int>(StepKind::kEnds),
            event_places_sql(),
            host);
    }
    return fmt::format(
        "SELECT moment, kind::UBIGINT, thread, event, edge, other_host, other_event, other_thread, "
        "other_at, rule::UBIGINT FROM ({}) ORDER BY moment, kind, event, other_event, edge",
        steps);
}

// A host's steps as they come from the scan.
class HostSteps {
  public:
    HostSteps(store::NumberScan scan, const std::map<std::uint64_t, std::uint32_t>& positions)
        : scan_(std::move(scan)), positions_(positions) {}

    Result<std::span<const CauseStep>> next() {
        TRY(const store::NumberBatch* const batch, scan_.next());
        steps_.clear();
        for (std::size_t row = 0; row < batch->rows; ++row) {
            const auto number = [&](std::size_t column) { return batch->columns[column][row]; };
            steps_.push_back({.kind = static_cast<StepKind>(number(1)),
                              .rule = static_cast<schema::CauseRule>(number(9)),
                              .other_host = positions_.at(number(5)),
                              .at = number(0),
                              .thread = number(2),
                              .event = number(3),
                              .edge = number(4),
                              .other_event = number(6),
                              .other_thread = number(7),
                              .other_at = number(8)});
        }
        return std::span<const CauseStep>(steps_);
    }

  private:
    store::NumberScan scan_;
    std::map<std::uint64_t, std::uint32_t> positions_;  // of hosts among the sources
    std::vector<CauseStep> steps_;
};

Result<void> run(store::Database& database, const std::string& sql) {
    return database.query(sql, [](store::Rows&) { return Result<void>(); });
}

}  // namespace

Result<std::shared_ptr<CauseSteps>> CauseSteps::start(store::Database& database,
                                                      const CauseQuestion& question) {
    std::shared_ptr<CauseSteps> steps(new CauseSteps(database));
    std::map<std::uint64_t, std::uint32_t> positions = {{0, 0}};
    std::size_t hosts = 0;
    TRY(each_number_row(database,
                        "SELECT host_index::UBIGINT FROM hosts ORDER BY 1",
                        [&](const auto& columns, std::size_t row) {
                            positions.emplace(columns[0][row],
                                              static_cast<std::uint32_t>(positions.size()));
                            ++hosts;
                        }));
    analysis::ClockPieces clock;
    if (question.with_clock && hosts > 1) {
        TRY(each_clock_piece(database, [&](std::uint64_t host, const analysis::ClockPiece& piece) {
            clock.add({positions.at(host)}, piece);
        }));
    }
    for (const std::string& statement : question.candidates) {
        TRY(run(database, statement));
    }
    std::vector<analysis::StepSource> sources(positions.size());
    for (const auto& [host, position] : positions) {
        TRY(store::NumberScan scan, database.scan_numbers(steps_sql(host, question.with_events)));
        const auto host_steps = std::make_shared<HostSteps>(std::move(scan), positions);
        sources[position] = [host_steps] { return host_steps->next(); };
    }
    steps->order_ = std::make_unique<analysis::CausalOrder>(std::move(sources), std::move(clock));
    return steps;
}

CauseSteps::~CauseSteps() {
    order_.reset();
    for (const char* const table : cause_tables()) {  // memory, nothing else
        (void)run(*database_, fmt::format("DROP TABLE IF EXISTS {}", table));
    }
}

Result<bool> CauseSteps::advance() {
    out.clear();
    return order_->advance(out);
}

}  // namespace dyetrace::query
