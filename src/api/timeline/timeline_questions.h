// What the page asks about its timeline; api/timeline/timeline_answer.h has the words.
//
//   timeline_rows       nodes, processes, threads and gaps of {"where": "…"}; the first answer takes as long as reading the trace
//   timeline_progress   {"read": 4000000, "of": 10000000} while that is under way
//   timeline            runs of rows in a window
//   timeline_flows      where bytes went between rows in a window
#pragma once

#include <string>
#include <vector>

#include "api/http_server.h"
#include "api/timeline/timeline_cache.h"

namespace dyetrace::api {

// It must outlive the questions. `prefix` stands before the name of each: "other_" for a trace that another one is compared with.
std::vector<api::Question> timeline_questions(TimelineCache& timelines,
                                              const std::string& prefix = "");

}  // namespace dyetrace::api
