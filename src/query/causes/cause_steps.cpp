#include "query/causes/cause_steps.h"

#include <map>
#include <utility>

#include "query/asked_rows.h"
#include "query/clock/shared_clock.h"
#include "query/named_sql.h"
#include "query/sql.h"

namespace dyetrace::query {
namespace {

using analysis::CauseStep;

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
            steps_.push_back({.kind = static_cast<analysis::StepKind>(number(1)),
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
    TRY(each_number_row(
        database, filled(sql::kCausesHosts), [&](const auto& columns, std::size_t row) {
            positions.emplace(columns[0][row], static_cast<std::uint32_t>(positions.size()));
            ++hosts;
        }));
    analysis::ClockPieces clock;
    if (question.with_clock && hosts > 1) {
        TRY(each_clock_piece(database, [&](std::uint64_t host, const analysis::ClockPiece& piece) {
            if (const auto position = positions.find(host); position != positions.end()) {
                clock.add({position->second}, piece);  // else another host of the same kernel
            }
        }));
    }
    for (const std::string& statement : question.candidates) {
        TRY(run(database, statement));
    }
    const std::string_view steps_of_host =
        question.with_events ? sql::kCauseRulesStepsAndEvents : sql::kCauseRulesSteps;
    std::vector<analysis::StepSource> sources(positions.size());
    for (const auto& [host, position] : positions) {
        TRY(store::NumberScan scan, database.scan_numbers(filled(steps_of_host, {{"host", host}})));
        const auto host_steps = std::make_shared<HostSteps>(std::move(scan), positions);
        sources[position] = [host_steps] { return host_steps->next(); };
    }
    steps->order_ = std::make_unique<analysis::CausalOrder>(std::move(sources), std::move(clock));
    return steps;
}

CauseSteps::~CauseSteps() {
    order_.reset();
    (void)run(*database_, filled(sql::kCauseRulesDrop));  // memory, nothing else
}

Result<bool> CauseSteps::advance() {
    out.clear();
    return order_->advance(out);
}

}  // namespace dyetrace::query
