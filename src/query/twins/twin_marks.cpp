#include "query/twins/twin_marks.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "query/asked_rows.h"
#include "query/loaded.h"
#include "query/named_sql.h"
#include "query/sql.h"

namespace dyetrace::query {
namespace {

using Columns = std::span<const std::span<const std::uint64_t>>;
using Answers = std::span<std::uint64_t>;

Result<std::shared_ptr<const TwinMarks>> load_marks(store::Database& database) {
    auto marks = std::make_shared<TwinMarks>();
    TRY(each_number_row(
        database, filled(sql::kTwinsEvents), [&](const auto& columns, std::size_t row) {
            marks->add(columns[0][row]);
        }));
    return std::shared_ptr<const TwinMarks>(std::move(marks));
}

Result<void> answer(Loaded<TwinMarks>& loaded,
                    std::span<const std::uint64_t> events,
                    Answers answers) {
    TRY(const std::shared_ptr<const TwinMarks> marks, loaded.get());
    if (marks->empty()) {
        std::ranges::fill(answers, 0);
        return {};
    }
    std::ranges::transform(events, answers.begin(), [&](std::uint64_t event) -> std::uint64_t {
        return marks->has(event);
    });
    return {};
}

}  // namespace

Result<void> register_twin_function(store::Database& database) {
    const auto loaded = std::make_shared<Loaded<TwinMarks>>(database, &load_marks);
    return database.register_function(
        store::NumberFunction{.name = "_is_twin",
                              .arguments = 1,
                              .is_condition = true,
                              .needs = {"twins"},
                              .call = [loaded](Columns columns, Answers answers) {
                                  return answer(*loaded, columns[0], answers);
                              }});
}

}  // namespace dyetrace::query
