#include "query/flows/event_marks.h"

#include "query/named_sql.h"
#include "query/sql.h"

namespace dyetrace::query {
Result<EventMarks<analysis::Anchor>> load_anchors(store::Database& database) {
    return EventMarks<analysis::Anchor>::load(
        database,
        filled(sql::kContentAnchors),
        kAnchorsMax,
        [](const auto& columns, std::size_t row) {
            return analysis::Anchor{
                columns[1].template get<std::int64_t>(row), columns[2][row], columns[3][row]};
        });
}

Result<EventMarks<analysis::DyeMark>> load_dye_marks(store::Database& database,
                                                     const std::string& name) {
    return EventMarks<analysis::DyeMark>::load(
        database,
        filled(sql::kContentDyeMarks,
               {{"dye", name.empty() ? SqlValue(SqlPiece{"NULL"}) : SqlValue(name)}}),
        kDyeMarksMax,
        [](const auto& columns, std::size_t row) {
            return analysis::DyeMark{
                columns[1].template get<std::int64_t>(row), columns[2][row], columns[3][row]};
        });
}

}  // namespace dyetrace::query
