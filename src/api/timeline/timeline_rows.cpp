#include "api/timeline/timeline_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "query/asked_rows.h"
#include "query/named_sql.h"
#include "query/sql.h"
#include "schema/dictionary.h"

namespace dyetrace::api {
namespace {

using api::TimelineRowKind;

}  // namespace

Result<void> TimelineThreads::load(store::Database& database) {
    TRY(query::each_row(database, query::filled(query::sql::kTimelineHosts), [&](query::Row row) {
        host_at_.emplace(query::number_of(row[0]), hosts_.size());
        hosts_.push_back({.name = std::string(row[1].text)});
    }));
    return query::each_row(
        database, query::filled(query::sql::kTimelineThreads), [&](query::Row row) {
            thread_at_.emplace(query::number_of(row[0]), threads_.size());
            threads_.push_back({.host_index = static_cast<std::uint32_t>(query::number_of(row[2])),
                                .end_ns = query::number_of(row[3]),
                                .process_id = query::number_of(row[1]),
                                .thread_id = query::number_of(row[0]),
                                .node = std::string(row[4].text),
                                .process = std::string(row[5].text),
                                .label = std::string(row[6].text),
                                .lane = {}});
        });
}

std::uint32_t TimelineThreads::host(std::uint32_t host_index) const {
    const auto at = host_at_.find(host_index);
    return at == host_at_.end() ? 0 : at->second;
}

TimelineThreads::Thread& TimelineThreads::of(std::uint64_t thread_id, std::uint64_t event_id) {
    if (thread_id != last_id_ || thread_id == 0 || last_at_ == UINT32_MAX) {
        const auto at = thread_at_.find(thread_id);
        if (at == thread_at_.end()) {
            return unknown(static_cast<std::uint32_t>(event_id / schema::event_id(1, 0, 0)));
        }
        last_id_ = thread_id;
        last_at_ = at->second;
    }
    return threads_[last_at_];
}

TimelineThreads::Thread* TimelineThreads::find(std::uint64_t thread_id) {
    const auto at = thread_at_.find(thread_id);
    return at == thread_at_.end() ? nullptr : &threads_[at->second];
}

// Its id is one that no thread has: no thread has pid 0 and began with its host.
TimelineThreads::Thread& TimelineThreads::unknown(std::uint32_t host_index) {
    const std::uint64_t id =
        schema::event_id(static_cast<std::uint16_t>(host_index), 0, 0) | 1u << 31;
    const auto [at, is_new] = thread_at_.emplace(id, threads_.size());
    if (is_new) {
        threads_.push_back({.host_index = host_index,
                            .node = hosts_.empty() ? "?" : hosts_[host(host_index)].name,
                            .process = "?",
                            .label = "?",
                            .lane = {}});
    }
    return threads_[at->second];
}

Result<void> TimelineThreads::finish(api::Timeline& timeline, const TimelineIndex* before) && {
    const auto place = [](const Thread& thread) {
        return std::tie(thread.node, thread.host_index, thread.process_id);
    };
    std::stable_sort(threads_.begin(), threads_.end(), [&](const Thread& a, const Thread& b) {
        return place(a) < place(b);
    });
    TimelineIndex::Builder builder;
    const Thread* last = nullptr;
    std::uint32_t node = 0, process = 0;
    const auto add_label =
        [&](TimelineRowKind kind, const Thread& of, std::uint64_t id, std::string label) {
            timeline.rows.push_back(
                {.kind = kind, .host = host(of.host_index), .id = id, .label = std::move(label)});
        };
    for (Thread& thread : threads_) {
        if (thread.lane.empty()) {
            continue;
        }
        if (timeline.rows.size() + 3 > TimelineIndex::kRowsMax) {
            return Error(ErrorCode::kLimitReached,
                         fmt::format("there are more than {} rows of nodes, processes and threads: "
                                     "say with a filter which of them",
                                     TimelineIndex::kRowsMax));
        }
        thread.lane.finish();
        const bool is_other_node =
            last == nullptr || last->node != thread.node || last->host_index != thread.host_index;
        if (is_other_node) {
            node = builder.add_row();
            add_label(TimelineRowKind::kNode, thread, 0, thread.node);
        }
        if (is_other_node || last->process_id != thread.process_id) {
            process = builder.add_row(node);
            add_label(TimelineRowKind::kProcess, thread, thread.process_id, thread.process);
        }
        builder.add_thread(process, std::move(thread.lane), thread.lane_before);
        add_label(TimelineRowKind::kThread, thread, thread.thread_id, thread.label);
        last = &thread;
    }
    timeline.index = std::move(builder).finish(before);
    timeline.hosts = std::move(hosts_);
    return {};
}

}  // namespace dyetrace::api
