#include "apps/thing_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "apps/asked_rows.h"
#include "schema/made_tables.h"

namespace dyetrace::apps {
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

// id, bytes, fingerprint, bytes that it is of. Of an object: if all that ever moved through it moved at once, and was the same.
constexpr const char* kEvents =
    "SELECT _event_id(host_index, cpu, sequence) AS id, bytes, fingerprint, bytes AS content_bytes "
    "FROM moved ORDER BY id";
constexpr const char* kObjects = R"sql(
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

Error too_many(const store::Database& database, std::size_t limit, const char* what) {
    return Error(ErrorCode::kLimitReached,
                 fmt::format("'{}' has more than {} {}, which is as many as are compared at once: "
                             "record less at a time (--where), or with a larger --anchor-distance",
                             database.path(),
                             limit,
                             what));
}

class ThingReader {
  public:
    ThingReader(store::Database& database, bool is_object, analysis::Things& things)
        : database_(&database), is_object_(is_object), things_(&things) {}

    Result<void> read(std::uint32_t trace) {
        TRY(read_things(trace));
        if (things_->size() >= kThingsMax) {
            return too_many(*database_, kThingsMax, is_object_ ? "objects" : "events with content");
        }
        TRY(read_anchors());
        if (anchors_ >= kThingAnchorsMax) {
            return too_many(*database_, kThingAnchorsMax, "anchors");
        }
        return {};
    }

  private:
    Result<void> read_things(std::uint32_t trace) {
        first_ = things_->size();
        const std::string sql = std::string(kMoved) + (is_object_ ? kObjects : kEvents);
        return each_number_row(*database_, sql, [&](const auto& columns, std::size_t row) {
            if (things_->size() == kThingsMax) {
                return;
            }
            const std::uint64_t fingerprint = columns[2][row];
            analysis::Thing thing;
            thing.id = columns[0][row];
            thing.bytes = columns[1][row];
            thing.content_bytes = columns[3][row];
            thing.trace = trace;
            if (fingerprint != schema::kMadeNull) {
                thing.fingerprint = fingerprint;
            }
            things_->add(thing);
            ids_.push_back(thing.id);
        });
    }

    Result<void> read_anchors() {
        const std::string sql = is_object_ ? std::string(kMoved) + kObjectAnchors : kEventAnchors;
        return each_number_row(*database_, sql, [&](const auto& columns, std::size_t row) {
            const auto at = std::lower_bound(ids_.begin(), ids_.end(), columns[0][row]);
            if (at == ids_.end() || *at != columns[0][row] || anchors_ == kThingAnchorsMax) {
                return;
            }
            things_->add_anchor(static_cast<std::uint32_t>(first_ + (at - ids_.begin())),
                                columns[1][row],
                                columns[2][row]);
            ++anchors_;
        });
    }

    store::Database* database_;
    bool is_object_;
    analysis::Things* things_;
    std::size_t first_ = 0, anchors_ = 0;
    std::vector<std::uint64_t> ids_;
};

}  // namespace

Result<void> read_things(store::Database& database,
                         schema::ThingKind kind,
                         std::uint32_t trace,
                         analysis::Things& things) {
    return ThingReader(database, kind == schema::ThingKind::kObject, things).read(trace);
}

}  // namespace dyetrace::apps
