#include "query/similarity/item_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "content/sketch.h"
#include "query/asked_rows.h"

namespace dyetrace::query {
namespace {

// Bytes that were looked at, by the call or the part of a call that moved them. sendfile and its kin move them through two objects.
constexpr const char* kMoved = R"sql(
WITH moved AS (
  SELECT host_index, cpu, sequence, handle_id, handle2_id, bytes::UBIGINT AS bytes, CASE WHEN unread_bytes = 0 THEN fingerprint END AS fingerprint
  FROM internal.raw_syscall_event WHERE unread_bytes IS NOT NULL AND bytes > 0
  UNION ALL
  SELECT host_index, cpu, sequence, handle_id, NULL, bytes::UBIGINT, CASE WHEN unread_bytes = 0 THEN fingerprint END
  FROM internal.raw_part_event WHERE unread_bytes IS NOT NULL AND bytes > 0),
acted AS (
  SELECT m.*, h.object_id FROM moved m JOIN internal.handles h ON h.host_index = m.host_index AND h.handle_id = m.handle_id
  UNION
  SELECT m.*, h.object_id FROM moved m JOIN internal.handles h ON h.host_index = m.host_index AND h.handle_id = m.handle2_id)
)sql";

// The columns are id, bytes, fingerprint, and the bytes that it is of. An object has one if all
// that ever moved through it moved at once, and was the same.
constexpr const char* kEvents =
    "SELECT _event_id(host_index, cpu, sequence) AS id, bytes, fingerprint, bytes AS content_bytes "
    "FROM moved ORDER BY id";
constexpr const char* kMovedObjects = R"sql(
SELECT object_id AS id, sum(bytes)::UBIGINT AS bytes,
       CASE WHEN min(fingerprint) = max(fingerprint) AND min(bytes) = max(bytes) AND count(fingerprint) = count(*) THEN min(fingerprint) END AS fingerprint,
       max(bytes) AS content_bytes
FROM acted GROUP BY object_id ORDER BY id)sql";

// id, fingerprint, how often.
constexpr const char* kEventAnchors =
    "SELECT _event_id(host_index, cpu, parent_sequence) AS id, fingerprint, count(*)::UBIGINT AS "
    "times FROM internal.raw_anchor GROUP BY ALL";
constexpr const char* kObjectAnchors = R"sql(
SELECT a.object_id AS id, x.fingerprint, count(*)::UBIGINT AS times
FROM internal.raw_anchor x JOIN acted a ON a.host_index = x.host_index AND a.cpu = x.cpu AND a.sequence = x.parent_sequence GROUP BY ALL)sql";

// What moves through an object in several operations lacks the windows over their borders, 31 for each: an object is only compared by
// sketches if that is less than one of 64, and if so little was moved that it has few anchors.
constexpr std::uint64_t kSketchedBytesEach = 2048;  // of an operation, on average
constexpr std::uint64_t kSketchedBytesMax = 65'536;

// id, distance, window.
constexpr const char* kEventWindows =
    "SELECT _event_id(host_index, cpu, parent_sequence) AS id, distance::UBIGINT AS distance, "
    "unnest(windows)::UBIGINT AS number FROM internal.raw_sketch";
constexpr const char* kObjectWindows = R"sql(
SELECT a.object_id AS id, s.distance::UBIGINT AS distance, unnest(s.windows)::UBIGINT AS number
FROM acted a JOIN internal.raw_sketch s ON s.host_index = a.host_index AND s.cpu = a.cpu AND s.parent_sequence = a.sequence
WHERE a.object_id IN (
  SELECT object_id FROM acted o LEFT JOIN internal.raw_sketch t ON t.host_index = o.host_index AND t.cpu = o.cpu AND t.parent_sequence = o.sequence
  GROUP BY object_id HAVING count(*) = count(t.parent_sequence) AND sum(o.bytes) BETWEEN {} * count(*) AND {}))sql";

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
        const std::string sql = std::string(kMoved) + (is_object_ ? kMovedObjects : kEvents);
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
        const std::string sql = is_object_ ? std::string(kMoved) + kObjectAnchors : kEventAnchors;
        return each_number_row(*database_, sql, [&](const auto& columns, std::size_t row) {
            const auto item = item_of(columns[0][row]);
            if (item && anchors_ < kItemAnchorsMax) {
                items_->add_anchor(*item, columns[1][row], columns[2][row]);
                ++anchors_;
            }
        });
    }

    std::string windows_sql(const std::string& what) const {
        const std::string select = "SELECT " + what + " FROM (";
        return is_object_
                   ? kMoved + select +
                         fmt::format(kObjectWindows, kSketchedBytesEach, kSketchedBytesMax) + ")"
                   : select + kEventWindows + ")";
    }

    Result<std::uint32_t> finest_level() const {
        std::array<std::uint64_t, analysis::kSketchLevels> windows{};
        TRY(each_number_row(*database_,
                            windows_sql(fmt::format("number >> {} AS level, count(*)::UBIGINT",
                                                    SKETCH_LEVEL_SHIFT)) +
                                " GROUP BY level",
                            [&](const auto& columns, std::size_t row) {
                                windows[columns[0][row]] = columns[1][row];
                            }));
        return analysis::finest_level(windows, kItemWindowsMax);
    }

    Result<void> read_sketches() {
        TRY(const std::uint32_t level, finest_level());
        const std::string sql =
            windows_sql(fmt::format("id, greatest(distance, {})::UBIGINT AS distance, number",
                                    SKETCH_DISTANCE_MIN << level)) +
            fmt::format(" WHERE (number >> {}) >= {}", SKETCH_LEVEL_SHIFT, level);
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
