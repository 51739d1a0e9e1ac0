// Questions about a timeline. Times in them are nanoseconds after its begin, which JavaScript's
// numbers hold exactly for 104 days.
//
// timeline_rows  {"where": "…"}: what there is to see. A column of `rows` has a value per row; a parent comes before what is beneath it.
//
//   {"revision": 7, "is_recording": false, "begin_ns": "1700000000000000000", "span_ns": 86400000000000, "events": 10000000,
//    "names": ["", "read", …], "hosts": [{"name": "db1", "ahead_min_ns": "…", "ahead_max_ns": "…"}],
//    "rows": {"parent": [-1, 0, 1], "kind": [0, 1, 2], "host": [0, 0, 0], "label": ["db1", …], "id": ["0", …], "threads": [1, …],
//             "events": […], "begin": […], "end": […]},
//    "gaps": [{"host": 0, "begin": 5000, "end": 7000, "lost": 12, "reason": "ring_full"}]}
//
// timeline  {"where": "…", "revision": 7, "from": 0, "to": 86400000000000, "width": 1500, "colour": "class", "rows": [0, 1, 17]}: a picture of
// these rows. The answer is binary, little-endian, because a page reads it as arrays without parsing:
//
//   bytes  "DTTL", u32 version (1), u32 revision, u32 rows R, u32 runs N, u32 singles S
//          u32 row[R], u32 runs_of_row[R]       in the order asked for
//          f32 x0[N], f32 x1[N]                 pixels after `from`
//          u32 count[N]                         events that begin there
//          u8 look[N][4]                        colour + 16 * flags, fill, work, ran: TimelineRun has what they mean
//          u64 event[S], u16 name[S]            of the runs with the flag kSingle, in their order; name is an index into `names`
//
// timeline_flows  {"where": "…", "revision": 7, "from": 0, "to": 1000, "width": 1500, "rows": [0, 1, 17]}: where bytes went between these rows,
// TimelineFlows::kSinglesMax arrows at the most. The times of a bundle are the mean, and its events
// those of its first arrow.
//
//   {"revision": 7, "flows": [{"from_row": 0, "to_row": 17, "from": 12, "to": 99, "count": 1, "bytes": 100, "is_certain": true,
//     "from_event": "77", "to_event": "78"}]}
//
// If the timeline is another one by now (revision), R is 0 and there are no flows: its rows have other numbers. kRowsAskedMax rows, TimeWindow::kWidthMax pixels.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "api/http_server.h"
#include "api/timeline/timeline.h"
#include "api/timeline/timeline_flows.h"

namespace dyetrace::api {

inline constexpr std::size_t kRowsAskedMax = 1024;

Answer timeline_rows_answer(const Timeline& timeline);

Result<Answer> timeline_answer(const Timeline& timeline,
                               const base::Json& question,
                               const std::atomic<bool>& cancelled);

Result<Answer> timeline_flows_answer(const Timeline& timeline,
                                     const TimelineFlows& flows,
                                     const base::Json& question);

// "from", "to" and "width" of a question.
Result<TimeWindow> window_in(const Timeline& timeline, const base::Json& question);
// "rows" of a question: each is there.
Result<std::vector<std::uint32_t>> rows_in(const Timeline& timeline, const base::Json& question);

}  // namespace dyetrace::api
