#include "query/flows/event_marks.h"

#include <fmt/format.h>

#include "base/sql_literal.h"

namespace dyetrace::query {
namespace {

constexpr const char* kAnchors =
    "SELECT _event_id(host_index, cpu, parent_sequence) AS event, position::BIGINT, "
    "fingerprint FROM internal.raw_anchor ORDER BY 1, 2";

// A dye is the same on all hosts if its name is. How long its forms are follows from its length, but for url and json, which are
// that long at least.
constexpr std::string_view kDyeMarks = R"(
WITH d AS (SELECT host_index, dye_id, hash(any_value(name)) AS dye, any_value(length)::UBIGINT AS length FROM internal.raw_dye {}
  GROUP BY host_index, dye_id)
SELECT _event_id(x.host_index, x.cpu, x.parent_sequence) AS event, x.position::BIGINT, d.dye,
  CASE _dye_form_name(x.form) WHEN 'base64_0' THEN 8 * length // 6 WHEN 'base64_1' THEN 8 * (length + 1) // 6 - 2
    WHEN 'base64_2' THEN 8 * (length + 2) // 6 - 3 WHEN 'hex' THEN 2 * length WHEN 'utf16le' THEN 2 * length ELSE length END::UBIGINT
FROM internal.raw_dye_hit x JOIN d USING (host_index, dye_id) ORDER BY 1, 2)";

}  // namespace

Result<EventMarks<analysis::Anchor>> load_anchors(store::Database& database) {
    return EventMarks<analysis::Anchor>::load(
        database, kAnchors, kAnchorsMax, [](const auto& columns, std::size_t row) {
            return analysis::Anchor{columns[1].template get<std::int64_t>(row), columns[2][row]};
        });
}

Result<EventMarks<analysis::DyeMark>> load_dye_marks(store::Database& database,
                                                     const std::string& name) {
    const std::string condition =
        name.empty() ? "" : fmt::format("WHERE name = {}", base::quoted_sql(name));
    return EventMarks<analysis::DyeMark>::load(
        database,
        fmt::format(fmt::runtime(kDyeMarks), condition),
        kDyeMarksMax,
        [](const auto& columns, std::size_t row) {
            return analysis::DyeMark{
                columns[1].template get<std::int64_t>(row), columns[2][row], columns[3][row]};
        });
}

}  // namespace dyetrace::query
