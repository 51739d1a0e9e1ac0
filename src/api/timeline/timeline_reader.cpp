#include "api/timeline/timeline_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/timeline/timeline_rows.h"
#include "filter/predicate.h"
#include "query/asked_rows.h"
#include "query/clock/shown_clock.h"
#include "query/named_sql.h"
#include "query/sql.h"
#include "schema/dictionary.h"
#include "schema/generated/enum_names.h"

namespace dyetrace::api {
namespace {

using api::TimelineRowKind;

// The columns of a scan; `bits` is class + 16 for an error + 32 for a call that never returned.
enum Column : std::size_t {
    kEvent,
    kTime,
    kStart,
    kDuration,
    kOnCpu,
    kThread,
    kName,
    kBits,
    kFingerprint
};

constexpr std::uint64_t kClassBits = 15, kErrorBit = 16, kUnfinishedBit = 32;

constexpr std::size_t kNamesMax = 65'536;  // of 16 bits; of more the last have none

// At most kGapsShown of a host and a reason: what lies within a thousandth of the time is one.
constexpr std::uint64_t kGapsShown = 1000;
constexpr std::uint64_t kLostUnknown = UINT64_MAX;  // of a gap, as a record has it

class Reader {
  public:
    Reader(store::Database& database,
           const TimelineRequest& request,
           TimelineProgress& progress,
           const std::atomic<bool>& cancelled)
        : database_(database), request_(request), progress_(progress), cancelled_(cancelled) {}

    Result<TimelineRead> read(const TimelineRead* before) {
        timeline_.is_recording = database_.state() == trace::TraceState::kRecording;
        TRY(const query::ShownClock clock, query::ShownClock::of(database_, request_.clock));
        TRY(threads_.load(database_));
        TRY(load_names());
        TRY(read_events(before));
        end_unfinished(clock);
        timeline_.begin_ns = static_cast<std::uint64_t>(request_.begin_ns);
        timeline_.end_ns = std::max(read_.end_ns, timeline_.begin_ns);
        TRY(load_gaps(clock));
        TRY(std::move(threads_).finish(timeline_,
                                       read_.is_added_to ? &before->timeline.index : nullptr));
        return std::move(read_);
    }

  private:
    Result<void> load_names() {
        timeline_.names.emplace_back();
        return query::each_row(
            database_, query::filled(query::sql::kTimelineNames), [&](query::Row row) {
                if (timeline_.names.size() < kNamesMax) {
                    names_[query::number_of(row[0])] =
                        static_cast<std::uint16_t>(timeline_.names.size());
                    timeline_.names.emplace_back(row[1].text);
                }
            });
    }

    Result<void> read_events(const TimelineRead* before) {
        if (timeline_.is_recording) {
            TRY(read_.facts, TimelineFacts::of(database_, !request_.where.empty()));
            read_.seen = database_.events_seen();
        }
        std::string condition = "true";
        if (!request_.where.empty()) {
            TRY(const filter::Predicate predicate, filter::Predicate::parse(request_.where));
            condition = predicate.to_sql();
        }
        const std::string select =
            query::filled(query::sql::kTimelineEvents, {{"condition", query::SqlPiece{condition}}});
        if (before != nullptr && may_add_to(*before)) {
            TRY(std::optional<store::NumberScan> scan,
                database_.scan_new_numbers(select, before->seen));
            if (scan) {
                take_over(*before);
                return take_all(*scan);
            }
        }
        TRY(query::each_row(database_,
                            query::filled(query::sql::kTimelineEventCount),
                            [&](query::Row row) { progress_.of = query::number_of(row[0]); }));
        TRY(store::NumberScan scan, database_.scan_numbers(select));
        return take_all(scan);
    }

    // What was read before is what would be read again, as far as it can be told without the events.
    bool may_add_to(const TimelineRead& before) {
        const bool is_refined = request_.clock == "cluster" && threads_.hosts().size() > 1;
        return timeline_.is_recording && before.timeline.is_recording && !is_refined &&
               before.timeline.names == timeline_.names && read_.facts.hold(before.facts) &&
               std::ranges::all_of(before.timeline.rows, [&](const api::TimelineRowLabel& row) {
                   return row.kind != TimelineRowKind::kThread || threads_.find(row.id) != nullptr;
               });
    }

    // Lanes are in the order of the rows of threads; hosts are the same.
    void take_over(const TimelineRead& before) {
        std::uint32_t lane = 0;
        for (const api::TimelineRowLabel& row : before.timeline.rows) {
            if (row.kind == TimelineRowKind::kThread) {
                TimelineThreads::Thread& thread = *threads_.find(row.id);
                thread.lane = before.timeline.index.lanes()[lane];
                thread.lane_before = lane++;
            }
        }
        for (std::size_t i = 0; i < threads_.hosts().size(); ++i) {
            threads_.hosts()[i] = before.timeline.hosts[i];
        }
        read_.unfinished = before.unfinished;
        read_.end_ns = before.end_ns;
        read_.is_added_to = true;
    }

    Result<void> take_all(store::NumberScan& scan) {
        for (;;) {
            TRY(const store::NumberBatch* const batch, scan.next());
            if (batch->rows == 0) {
                return {};
            }
            if (cancelled_) {
                return Error(ErrorCode::kInterrupted, "reading the timeline was cancelled");
            }
            for (std::size_t row = 0; row < batch->rows; ++row) {
                take(batch->columns, row);
            }
            progress_.read += batch->rows;
        }
    }

    void take(const store::NumberColumns& columns, std::size_t row) {
        const auto number = [&](Column column) { return columns[column][row]; };
        const std::uint64_t bits = number(kBits);
        const std::uint64_t took = columns[kDuration].value_or(row, std::uint64_t{0});
        const auto on_cpu = columns[kOnCpu].optional(row);
        const auto fingerprint = columns[kFingerprint].optional(row);
        const std::uint64_t thread_id = columns[kThread].value_or(row, std::uint64_t{0});
        TimelineEvent event{.begin_ns = number(kTime),
                            .end_ns = number(kTime) + took,
                            .id = number(kEvent),
                            .name = name_of(number(kName)),
                            .call_class = static_cast<std::uint8_t>(bits & kClassBits),
                            .content = fingerprint ? content_colour(*fingerprint) : std::uint8_t{0},
                            .is_error = (bits & kErrorBit) != 0,
                            .is_unfinished = (bits & kUnfinishedBit) != 0};
        if (took > 0 && on_cpu) {
            event.waited = 1 - static_cast<double>(*on_cpu) / static_cast<double>(took);
        }
        TimelineThreads::Thread& thread = threads_.of(thread_id, event.id);
        see_time(thread.host_index, event, number(kStart));
        if (event.is_unfinished && columns[kDuration].is_null(row)) {
            event.waited = 1;
            read_.unfinished.push_back({.thread_id = thread_id, .event = event});
        } else {
            thread.lane.add(event);
        }
    }

    std::uint16_t name_of(std::uint64_t hash) {
        if (hash != last_name_.first) {
            const auto found = names_.find(hash);
            last_name_ = {hash, found == names_.end() ? std::uint16_t{0} : found->second};
        }
        return last_name_.second;
    }

    void see_time(std::uint32_t host_index, const TimelineEvent& event, std::uint64_t start_ns) {
        if (host_index != seen_host_.first || seen_host_.second == nullptr) {
            if (threads_.hosts().empty()) {
                return;
            }
            seen_host_ = {host_index, &threads_.hosts()[threads_.host(host_index)]};
        }
        api::TimelineHost& host = *seen_host_.second;
        const auto ahead = static_cast<std::int64_t>(event.begin_ns - start_ns);
        host.ahead_min_ns = std::min(host.ahead_min_ns, ahead);
        host.ahead_max_ns = std::max(host.ahead_max_ns, ahead);
        read_.end_ns = std::max(read_.end_ns, event.end_ns);
    }

    // Where its thread ended, or what was seen at all.
    void end_unfinished(const query::ShownClock& clock) {
        for (TimelineRead::Unfinished& each : read_.unfinished) {
            TimelineThreads::Thread& thread = threads_.of(each.thread_id, each.event.id);
            const std::uint64_t last =
                thread.end_ns == 0 ? read_.end_ns : clock.at(thread.host_index, thread.end_ns);
            const std::uint64_t end_ns = std::max(last, each.event.begin_ns);
            if (each.is_drawn && each.event.end_ns == end_ns) {
                continue;
            }
            if (each.is_drawn) {
                thread.lane.take_out(each.event.id);
            }
            each.event.end_ns = end_ns;
            each.is_drawn = true;
            thread.lane.add(each.event);
        }
    }

    Result<void> load_gaps(const query::ShownClock& clock) {
        const std::uint64_t step =
            std::max<std::uint64_t>((timeline_.end_ns - timeline_.begin_ns) / kGapsShown, 1);
        return query::each_row(
            database_,
            query::filled(query::sql::kTimelineGaps,
                          {{"unknown", kLostUnknown}, {"step_ns", step}}),
            [&](query::Row row) {
                const std::uint64_t host_index = query::number_of(row[0]);
                timeline_.gaps.push_back(
                    {.host = threads_.host(static_cast<std::uint32_t>(host_index)),
                     .begin_ns = clock.at(host_index, query::number_of(row[1])),
                     .end_ns = clock.at(host_index, query::number_of(row[2])),
                     .lost = query::number_of(row[3]),
                     .reason = std::string(row[4].text)});
            });
    }

    store::Database& database_;
    const TimelineRequest& request_;
    TimelineProgress& progress_;
    const std::atomic<bool>& cancelled_;
    TimelineRead read_;
    api::Timeline& timeline_ = read_.timeline;
    TimelineThreads threads_;
    std::unordered_map<std::uint64_t, std::uint16_t> names_;  // by hash
    std::pair<std::uint64_t, std::uint16_t> last_name_ = {0, 0};
    std::pair<std::uint32_t, api::TimelineHost*> seen_host_ = {0, nullptr};
};

}  // namespace

Result<TimelineRead> read_timeline(store::Database& database,
                                   const TimelineRequest& request,
                                   const TimelineRead* before,
                                   TimelineProgress& progress,
                                   const std::atomic<bool>& cancelled) {
    progress.read = progress.of = 0;
    return Reader(database, request, progress, cancelled).read(before);
}

Result<TimelineFlows> read_timeline_flows(store::Database& database,
                                          const api::Timeline& timeline,
                                          const std::atomic<bool>& cancelled) {
    // Makes the table, and can be cancelled, which a scan cannot while it begins.
    TRY(database.query(
        query::filled(query::sql::kFlowsMake),
        [](store::Rows&) -> Result<void> { return {}; },
        &cancelled));
    std::vector<FoundFlow> found;
    TRY(query::each_number_row(
        database,
        query::filled(query::sql::kFlowsArrows, {{"most", kTimelineFlowsMax + 1}}),
        [&](const auto& columns, std::size_t row) {
            found.push_back(
                {columns[0][row], columns[1][row], columns[2][row], columns[3][row] != 0});
        }));
    if (found.size() > kTimelineFlowsMax) {
        return Error(ErrorCode::kLimitReached,
                     fmt::format("there are more than {} flows, which is as many as are drawn: ask "
                                 "the table flows in SQL",
                                 kTimelineFlowsMax));
    }
    return TimelineFlows(timeline.index, found);
}

}  // namespace dyetrace::api
