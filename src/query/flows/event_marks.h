// Marks in the bytes that events moved (anchors, dyes) by event, for the flow engine: a trace lists them in no order that it could read
// along with.
//
// Limit: marks_max of them; over it, none (too_many()).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/dataflow/operation.h"
#include "query/asked_rows.h"
#include "store/database.h"

namespace dyetrace::query {

template <typename Mark>
class EventMarks {
  public:
    using Columns = store::NumberColumns;

    // `sql` gives the event first, and all marks of one event one after another.
    static Result<EventMarks> load(
        store::Database& database,
        const std::string& sql,
        std::size_t marks_max,
        const std::function<Mark(const Columns&, std::size_t row)>& mark_in) {
        EventMarks marks;
        TRY(each_number_row(database, sql, [&](const Columns& columns, std::size_t row) {
            if (marks.too_many_ || marks.marks_.size() >= marks_max) {
                marks.too_many_ = true;
                return;
            }
            Range& range = marks.ranges_[columns[0][row]];
            if (range.count++ == 0) {
                range.first = marks.marks_.size();
            }
            marks.marks_.push_back(mark_in(columns, row));
        }));
        if (marks.too_many_) {
            marks.marks_.clear();
            marks.ranges_.clear();
        }
        return marks;
    }

    std::span<const Mark> of(std::uint64_t event) const {
        const auto range = ranges_.find(event);
        return range == ranges_.end()
                   ? std::span<const Mark>()
                   : std::span(marks_).subspan(range->second.first, range->second.count);
    }
    void each(const std::function<void(std::uint64_t event, const Mark& mark)>& take) const {
        for (const auto& [event, range] : ranges_) {
            for (const Mark& mark : of(event)) {
                take(event, mark);
            }
        }
    }
    bool too_many() const { return too_many_; }

  private:
    struct Range {
        std::size_t first = 0, count = 0;
    };
    std::vector<Mark> marks_;
    std::unordered_map<std::uint64_t, Range> ranges_;
    bool too_many_ = false;
};

inline constexpr std::size_t kAnchorsMax =
    50'000'000;  // 24 bytes each, of 50 GB at the usual distance
inline constexpr std::size_t kDyeMarksMax = 20'000'000;  // 32 bytes each

Result<EventMarks<analysis::Anchor>> load_anchors(store::Database& database);
// Loads the marks of all dyes, or of the one of that name.
Result<EventMarks<analysis::DyeMark>> load_dye_marks(store::Database& database,
                                                     const std::string& name = {});

}  // namespace dyetrace::query
