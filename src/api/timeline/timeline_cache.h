// The timelines that the page looks at: read when they are first asked for, the last kTimelinesKept conditions are kept.
//
//   TimelineCache timelines(pool, trace, "cluster");
//   TRY(const auto timeline, timelines.of("class = 'file'", cancelled));      of() has it; row numbers are those of its revision
//   timelines.progress("class = 'file'")                                      how far it is, while of() is under way elsewhere
//
//   of() ──▶ is it there? ── yes ──▶ gives it
//                │
//                no ──▶ reads it; who asks meanwhile for the same waits. If the reader is cancelled, one of those reads.
//
// While a trace is recorded, look_again() reads what came since, and adds it to a copy, beside the
// answers once it is kAgeFactor times as old as that took: a tenth of one CPU at the most. Who
// draws keeps what he draws from. Sometimes all must be read anew (timeline_reader.h).
//
// Thread: any.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/database_pool.h"
#include "api/timeline/timeline.h"
#include "api/timeline/timeline_reader.h"
#include "query/selected_events.h"

namespace dyetrace::api {

class TimelineCache {
  public:
    static constexpr std::size_t kTimelinesKept = 2;  // 340 MB each of 10 million events
    static constexpr int kAgeFactor = 10;
    static constexpr std::chrono::milliseconds kAgeMin{1000};

    // Both must outlive it.
    TimelineCache(api::DatabasePool& pool, query::SelectedEvents& trace, std::string clock);
    ~TimelineCache();

    // Shared: whoever draws keeps it while a newer one takes its place.
    using Kept = std::shared_ptr<const api::Timeline>;

    using KeptFlows = std::shared_ptr<const TimelineFlows>;

    // Has what a recording got since read, beside the answers, if the timeline is old by now. Rows
    // get other numbers, so only who asks for rows calls this. Once the recording has ended the
    // page asks a last time: then it waits for all of it. kInterrupted if `cancelled` is set
    // meanwhile.
    Result<void> look_again(const std::string& where, const std::atomic<bool>& cancelled);

    // kInterrupted if `cancelled` is set while it is read.
    Result<Kept> of(const std::string& where, const std::atomic<bool>& cancelled);

    // The flows of a timeline that of() gave are read when they are first asked for.
    Result<KeptFlows> flows_of(const std::string& where,
                               const Kept& timeline,
                               const std::atomic<bool>& cancelled);

    // Events read, and how many there are; 0 of 0: nobody reads it.
    std::pair<std::uint64_t, std::uint64_t> progress(const std::string& where);

  private:
    using Clock = std::chrono::steady_clock;
    struct Slot {
        std::string where;
        Kept timeline;  // of `last`
        std::shared_ptr<const TimelineRead>
            last;         // what the next is added to; shared with who draws
        KeptFlows flows;  // of the timeline of flows_revision
        std::uint32_t flows_revision = 0;
        bool is_read = false;  // somebody reads it now
        Clock::time_point made;
        Clock::duration took{};
        std::uint64_t asked = 0;  // the larger the later
        TimelineProgress progress;
    };

    std::shared_ptr<Slot> slot_of(const std::string& where);
    bool is_old(const Slot& slot) const;
    Result<void> read(Slot& slot, const std::atomic<bool>& cancelled);
    Result<void> read_end(const std::shared_ptr<Slot>& slot,
                          std::unique_lock<std::mutex>& lock,
                          const std::atomic<bool>& cancelled);
    void read_beside(const std::shared_ptr<Slot>& slot, std::unique_lock<std::mutex>& lock);

    api::DatabasePool& pool_;
    query::SelectedEvents& trace_;
    const std::string clock_;
    std::mutex mutex_;  // std's, for the condition
    std::condition_variable read_;
    std::vector<std::shared_ptr<Slot>> slots_;  // shared with who reads them
    std::uint64_t asked_ = 0;
    std::uint32_t revision_ = 0;
    bool is_beside_ = false;  // beside_ reads
    std::atomic<bool> is_ended_ = false;
    std::thread beside_;
};

}  // namespace dyetrace::api
