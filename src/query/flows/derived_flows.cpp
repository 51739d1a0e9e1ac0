#include "query/flows/derived_flows.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "analysis/dataflow/flow_engine.h"
#include "base/log.h"
#include "query/flows/event_marks.h"
#include "query/flows/extent_file.h"
#include "query/flows/flow_rows.h"
#include "query/flows/lineage_rows.h"
#include "query/named_sql.h"
#include "query/sql.h"
#include "query/twins/derived_twins.h"

namespace dyetrace::query {
namespace {

// Raised whenever the rules give other flows for the same events.
constexpr std::uint32_t kFlowRulesVersion = 13;

std::string temporary_folder() {
    std::error_code error;
    const auto folder = std::filesystem::temp_directory_path(error);
    return error ? "/tmp" : folder.string();
}

class FlowRows {
  public:
    FlowRows(store::NumberScan scan,
             EventMarks<analysis::Anchor> anchors,
             EventMarks<analysis::DyeMark> dyes,
             const analysis::Lineage& lineage)
        : scan_(std::move(scan)),
          anchors_(std::move(anchors)),
          dyes_(std::move(dyes)),
          ranges_(temporary_folder()),
          engine_({}, lineage, &ranges_) {}

    Result<void> next(std::vector<std::uint64_t>& numbers) {
        while (flows_.empty()) {
            TRY(const store::NumberBatch* const batch, scan_.next());
            if (batch->rows == 0 && std::exchange(is_over_, true)) {
                tell_forgotten();
                return {};
            }
            if (is_over_) {
                engine_.finish(flows_);
            }
            take(*batch);
        }
        for (const analysis::Flow& flow : flows_) {
            numbers.insert(numbers.end(),
                           {flow.from_event,
                            flow.to_event,
                            flow.object,
                            flow.to_object,
                            flow.from_offset,
                            flow.to_offset,
                            flow.from_position,
                            flow.to_position,
                            flow.bytes,
                            static_cast<std::uint64_t>(flow.rule),
                            static_cast<std::uint64_t>(flow.certainty)});
        }
        flows_.clear();
        return {};
    }

  private:
    void take(const store::NumberBatch& batch) {
        for (std::size_t row = 0; row < batch.rows; ++row) {
            analysis::Operation operation = operation_in(batch.columns, row);
            operation.anchors = anchors_.of(operation.event);
            operation.dyes = dyes_.of(operation.event);
            if (batch.columns[kMoveIsStart][row] == 0) {
                engine_.ends(operation, flows_);
            } else if (analysis::FlowEngine::touch_in_flight(operation)) {
                engine_.starts(operation);
            }
        }
    }

    void tell_forgotten() const {
        if (anchors_.too_many()) {
            base::Log::to_stderr().warn(fmt::format(
                "flows: there are more than {} anchors; flows that only they show are missing",
                kAnchorsMax));
        }
        if (dyes_.too_many()) {
            base::Log::to_stderr().warn(fmt::format(
                "flows: there are more than {} hits of dyes; flows that only they show are missing",
                kDyeMarksMax));
        }
        if (engine_.forgotten() > 0) {
            base::Log::to_stderr().warn(
                fmt::format("flows: {} older ranges were forgotten, as there was no room for them "
                            "in memory or in the temporary folder; flows from them are missing",
                            engine_.forgotten()));
        }
        if (engine_.crowded_out() > 0) {
            base::Log::to_stderr().warn(
                fmt::format("flows: {} writers were left out where more than {} wrote to the same "
                            "bytes at a time; flows from them are missing",
                            engine_.crowded_out(),
                            1 + analysis::kOthersMax));
        }
    }

    store::NumberScan scan_;
    EventMarks<analysis::Anchor> anchors_;
    EventMarks<analysis::DyeMark> dyes_;
    ExtentFile ranges_;  // that the engine has no memory for
    analysis::FlowEngine engine_;
    std::vector<analysis::Flow> flows_;
    bool is_over_ = false;
};

}  // namespace

void offer_flows(store::Database& database) {
    offer_twins(database);
    database.register_table(
        {"flows", kFlowRulesVersion, [](store::Database& asked) -> Result<store::RowSource> {
             TRY(const std::string shared, shared_kernels(asked));
             if (!shared.empty()) {
                 base::Log::to_stderr().warn(
                     shared + ": what several of them recorded counts once (table twins)");
             }
             TRY(const analysis::Lineage lineage, load_lineage(asked));
             TRY(store::NumberScan scan, asked.scan_numbers(filled(sql::kMovesInOrder)));
             TRY(EventMarks<analysis::Anchor> anchors, load_anchors(asked));
             TRY(EventMarks<analysis::DyeMark> dyes, load_dye_marks(asked));
             const auto rows = std::make_shared<FlowRows>(
                 std::move(scan), std::move(anchors), std::move(dyes), lineage);
             return store::RowSource(
                 [rows](std::vector<std::uint64_t>& numbers) { return rows->next(numbers); });
         }});
}

}  // namespace dyetrace::query
