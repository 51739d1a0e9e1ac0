#include "reports/export/export_events.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <optional>

#include "query/asked_rows.h"
#include "query/named_sql.h"
#include "query/sql.h"

namespace dyetrace::reports {
namespace {

using exporter::Event;
using exporter::Flow;
using exporter::ValueKind;
using exporter::ValueName;

// The columns that stand in front of the values.
enum EventColumn : std::uint8_t {
    kEventId,
    kParentId,
    kProcessId,
    kThreadId,
    kBegin,
    kDuration,
    kState,
    kClass,
    kName,
    kFlowsFrom,
    kFlowsTo,
    kValues
};
std::string sql_of(const ExportQuestion& question, bool with_flows) {
    std::vector<std::string> values, columns;
    for (const ValueName& value : exported_values()) {
        values.push_back(value.name);
        if (value.name != "arguments") {
            columns.push_back(value.name);
        }
    }
    const bool is_by_process = question.order == ExportOrder::kProcess;
    return query::filled(
        with_flows ? query::sql::kExportEventsWithFlows : query::sql::kExportEvents,
        {{"from", query::SqlPiece{question.from}},
         {"columns", query::SqlPiece{fmt::format("{}", fmt::join(columns, ", "))}},
         {"values", query::SqlPiece{fmt::format("{}", fmt::join(values, ", "))}},
         {"with_arguments", query::SqlPiece{question.with_arguments ? "true" : "false"}},
         {"order", query::SqlPiece{is_by_process ? "process_id," : ""}}});
}

// [[1, 2, 3], [4, 5, 6]]: the numbers, whatever is around them.
void read_flows(std::string_view text, std::vector<Flow>& flows) {
    flows.clear();
    std::array<std::uint64_t, 3> numbers{};
    std::size_t count = 0;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
        const auto [next, error] = std::from_chars(at, end, numbers[count]);
        if (error != std::errc()) {
            ++at;
            continue;
        }
        at = next;
        if (++count == numbers.size()) {
            flows.push_back({numbers[0], numbers[1], numbers[2]});
            count = 0;
        }
    }
}

bool is_there(const store::Cell& cell) {
    return cell.kind != store::CellKind::kNull;
}

class EventReader {
  public:
    EventReader() {
        const auto& names = exported_values();
        values_.resize(names.size());
        while (names[error_].name != "error") {
            ++error_;
        }
    }

    // What it refers to is valid until the next one.
    Event event_in(query::Row row) {
        read_flows(row[kFlowsFrom].text, from_);
        read_flows(row[kFlowsTo].text, to_);
        for (std::size_t i = 0; i < values_.size(); ++i) {
            const store::Cell& cell = row[kValues + i];
            values_[i] = is_there(cell) ? std::optional(cell.text) : std::nullopt;
        }
        Event event{.id = query::number_of(row[kEventId]),
                    .parent_id = query::number_of(row[kParentId]),
                    .process_id = query::number_of(row[kProcessId]),
                    .thread_id = query::number_of(row[kThreadId]),
                    .is_unfinished = row[kState].text == "unfinished",
                    .event_class = row[kClass].text,
                    .name = row[kName].text,
                    .error = row[kValues + error_].text,
                    .values = values_,
                    .flows_from = from_,
                    .flows_to = to_};
        const std::string_view begin = row[kBegin].text;
        std::from_chars(begin.data(), begin.data() + begin.size(), event.begin_ns);
        if (is_there(row[kDuration])) {
            event.duration_ns = query::number_of(row[kDuration]);
        }
        return event;
    }

  private:
    std::size_t error_ = 0;
    std::vector<exporter::OptionalText> values_;
    std::vector<Flow> from_, to_;
};

}  // namespace

const std::vector<ValueName>& exported_values() {
    static const std::vector<ValueName> kNames = {
        {"path", ValueKind::kName},           {"argument_path", ValueKind::kName},
        {"path2", ValueKind::kName},          {"fd", ValueKind::kNumber},
        {"file_offset", ValueKind::kNumber},  {"file_offset2", ValueKind::kNumber},
        {"requested", ValueKind::kNumber},    {"bytes", ValueKind::kNumber},
        {"result", ValueKind::kNumber},       {"error", ValueKind::kName},
        {"arguments", ValueKind::kJson},      {"on_cpu_ns", ValueKind::kNumber},
        {"local_address", ValueKind::kName},  {"local_port", ValueKind::kNumber},
        {"remote_address", ValueKind::kName}, {"remote_port", ValueKind::kNumber},
        {"connection_id", ValueKind::kId},    {"stream_offset", ValueKind::kNumber},
        {"fingerprint", ValueKind::kId},      {"unread_bytes", ValueKind::kNumber},
        {"dye_hits", ValueKind::kNumber},     {"object_id", ValueKind::kId},
        {"event_id", ValueKind::kId},
    };
    return kNames;
}

Result<std::uint64_t> each_event(store::Database& database,
                                 const ExportQuestion& question,
                                 const std::atomic<bool>& cancelled,
                                 const std::function<Result<void>(const Event&)>& each) {
    bool with_flows = false;
    if (question.with_flows) {
        TRY(query::each_row(database,
                            query::filled(query::sql::kExportHasFlows),
                            [&](query::Row row) { with_flows = row[0].text == "true"; }));
    }
    std::uint64_t count = 0;
    EventReader reader;
    TRY(database.query(
        sql_of(question, with_flows),
        [&](store::Rows& rows) -> Result<void> {
            for (;; ++count) {
                TRY(const query::Row row, rows.next());
                if (row.empty()) {
                    return {};
                }
                TRY(each(reader.event_in(row)));
            }
        },
        &cancelled));
    return count;
}

}  // namespace dyetrace::reports
