#include "query/similarity/item_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "content/sketch.h"
#include "query/asked_rows.h"
#include "query/named_sql.h"
#include "query/sql.h"

namespace dyetrace::query {
namespace {

// What moves through an object in several operations lacks the windows over their borders, 31 for each: an object is only compared by
// sketches if that is less than one of 64, and if so little was moved that it has few anchors.
constexpr std::uint64_t kSketchedBytesEach = 2048;  // of an operation, on average
constexpr std::uint64_t kSketchedBytesMax = 65'536;

Error too_many(const store::Database& database, std::size_t limit, const char* what) {
    return Error(ErrorCode::kLimitReached,
                 fmt::format("'{}' has more than {} {}, which is as many as are compared at once: "
                             "record less at a time (--where), or with a larger --anchor-distance",
                             database.path(),
                             limit,
                             what));
}

class ItemReader {
  public:
    ItemReader(store::Database& database, bool is_object, analysis::Items& items)
        : database_(&database), is_object_(is_object), items_(&items) {}

    Result<void> read(std::uint32_t trace) {
        TRY(read_items(trace));
        if (items_->size() >= kItemsMax) {
            return too_many(*database_, kItemsMax, is_object_ ? "objects" : "events with content");
        }
        TRY(read_anchors());
        if (anchors_ >= kItemAnchorsMax) {
            return too_many(*database_, kItemAnchorsMax, "anchors");
        }
        return read_sketches();
    }

  private:
    Result<void> read_items(std::uint32_t trace) {
        first_ = items_->size();
        const std::string sql = filled(is_object_ ? sql::kItemsObjects : sql::kItemsEvents);
        return each_number_row(*database_, sql, [&](const auto& columns, std::size_t row) {
            if (items_->size() == kItemsMax) {
                return;
            }
            analysis::Item item;
            item.id = columns[0][row];
            item.bytes = columns[1][row];
            item.content_bytes = columns[3][row];
            item.trace = trace;
            item.fingerprint = columns[2].optional(row);
            items_->add(item);
            ids_.push_back(item.id);
        });
    }

    Result<void> read_anchors() {
        const std::string sql =
            filled(is_object_ ? sql::kItemsAnchorsOfObjects : sql::kItemsAnchorsOfEvents);
        return each_number_row(*database_, sql, [&](const auto& columns, std::size_t row) {
            const auto item = item_of(columns[0][row]);
            if (item && anchors_ < kItemAnchorsMax) {
                items_->add_anchor(*item, columns[1][row], columns[2][row]);
                ++anchors_;
            }
        });
    }

    SqlPiece sketched() const {
        return {is_object_
                    ? filled(sql::kItemsWindowsOfObjects,
                             {{"bytes_each", kSketchedBytesEach}, {"bytes_max", kSketchedBytesMax}})
                    : filled(sql::kItemsWindowsOfEvents)};
    }

    Result<std::uint32_t> finest_level() const {
        std::array<std::uint64_t, analysis::kSketchLevels> windows{};
        TRY(each_number_row(*database_,
                            filled(sql::kItemsWindowsByLevel,
                                   {{"windows", sketched()}, {"shift", SKETCH_LEVEL_SHIFT}}),
                            [&](const auto& columns, std::size_t row) {
                                windows[columns[0][row]] = columns[1][row];
                            }));
        return analysis::finest_level(windows, kItemWindowsMax);
    }

    Result<void> read_sketches() {
        TRY(const std::uint32_t level, finest_level());
        const std::string sql = filled(sql::kItemsWindowsFromLevel,
                                       {{"windows", sketched()},
                                        {"distance_min", SKETCH_DISTANCE_MIN << level},
                                        {"shift", SKETCH_LEVEL_SHIFT},
                                        {"level", level}});
        return each_number_row(*database_, sql, [&](const auto& columns, std::size_t row) {
            if (const auto item = item_of(columns[0][row])) {
                items_->add_window(*item,
                                   static_cast<std::uint32_t>(columns[1][row]),
                                   static_cast<std::uint32_t>(columns[2][row]));
            }
        });
    }

    std::optional<std::uint32_t> item_of(std::uint64_t id) const {
        const auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
        if (at == ids_.end() || *at != id) {
            return std::nullopt;
        }
        return static_cast<std::uint32_t>(first_ + static_cast<std::size_t>(at - ids_.begin()));
    }

    store::Database* database_;
    bool is_object_;
    analysis::Items* items_;
    std::size_t first_ = 0, anchors_ = 0;
    std::vector<std::uint64_t> ids_;
};

}  // namespace

Result<void> read_items(store::Database& database,
                        schema::ItemKind kind,
                        std::uint32_t trace,
                        analysis::Items& items) {
    return ItemReader(database, kind == schema::ItemKind::kObject, items).read(trace);
}

}  // namespace dyetrace::query
