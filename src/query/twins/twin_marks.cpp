#include "query/twins/twin_marks.h"

#include <algorithm>
#include <memory>
#include <span>

#include "base/thread_annotations.h"
#include "query/asked_rows.h"
#include "query/named_sql.h"
#include "query/sql.h"

namespace dyetrace::query {
namespace {

using Columns = std::span<const std::span<const std::uint64_t>>;
using Answers = std::span<std::uint64_t>;

// In memory from the first question on, until the trace is looked at again.
class LoadedMarks {
  public:
    explicit LoadedMarks(store::Database& database) : database_(database) {}

    Result<std::shared_ptr<const TwinMarks>> get() {
        const base::MutexLock lock(mutex_);
        if (marks_ == nullptr || look_ != database_.looks()) {
            const auto marks = std::make_shared<TwinMarks>();
            TRY(each_number_row(
                database_, filled(sql::kTwinsEvents), [&](const auto& columns, std::size_t row) {
                    marks->add(columns[0][row]);
                }));
            marks_ = marks;
            look_ = database_.looks();
        }
        return marks_;
    }

  private:
    store::Database& database_;
    base::Mutex mutex_;
    std::shared_ptr<const TwinMarks> marks_ GUARDED_BY(mutex_);
    std::uint64_t look_ GUARDED_BY(mutex_) = 0;
};

Result<void> answer(LoadedMarks& loaded, std::span<const std::uint64_t> events, Answers answers) {
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
    const auto loaded = std::make_shared<LoadedMarks>(database);
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
