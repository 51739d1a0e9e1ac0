// The rows of a timeline: nodes, their processes, and the threads of these, as people call them.
//
//   TimelineThreads threads;
//   TRY(threads.load(database));
//   threads.lane(thread_id, event_id).add(event); …            of any thread, in any order
//   TRY(std::move(threads).finish(timeline));
//
// A thread without events has no row. Events of which nobody knows who did them are those of one more process per host, "?".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/timeline/timeline.h"
#include "base/result.h"
#include "store/database.h"

namespace dyetrace::api {

class TimelineThreads {
  public:
    struct Thread {
        std::uint32_t host_index = 0;
        std::uint64_t end_ns = 0;  // CLOCK_BOOTTIME; 0: it did not end
        std::uint64_t process_id = 0, thread_id = 0;
        std::string node, process, label;
        Lane lane;
        std::uint32_t lane_before = TimelineRow::kNone;  // of which it was a copy
    };

    // 0: nobody knows which thread it was.
    Result<void> load(store::Database& database);

    Thread& of(std::uint64_t thread_id, std::uint64_t event_id);
    // nullptr: nobody knows it.
    Thread* find(std::uint64_t thread_id);

    // Rows and hosts of the timeline, and its index, which continues `before` if there is one. kLimitReached: there are more rows than an index has.
    Result<void> finish(api::Timeline& timeline, const TimelineIndex* before = nullptr) &&;

    // Where in Timeline::hosts; by host_index.
    std::uint32_t host(std::uint32_t host_index) const;
    std::vector<api::TimelineHost>& hosts() { return hosts_; }

  private:
    Thread& unknown(std::uint32_t host_index);

    std::vector<api::TimelineHost> hosts_;
    std::map<std::uint32_t, std::uint32_t> host_at_;  // by host_index
    std::vector<Thread> threads_;                     // in the order in which they are shown
    std::unordered_map<std::uint64_t, std::uint32_t> thread_at_;  // by id
    std::uint64_t last_id_ =
        0;  // of the thread that was asked for last: most often it is asked for again
    std::uint32_t last_at_ = UINT32_MAX;
};

}  // namespace dyetrace::api
