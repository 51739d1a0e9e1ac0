// The page's question `follow`: where bytes went, or where they came from, as `dyetrace follow --json` says it.
//
//   {"start": "/srv/data:100-200"}                                   a file, or some of its bytes
//   {"start": "dye:card", "direction": "back"}                       a dye
//   {"start": "event:4711", "min_certainty": "possible"}             the bytes of one event
//   {"start": "hash:0x1f", "hops_max": 300}                          bytes with this fingerprint
//
// Paths are as SQL shows them, with what is no text escaped; pipes and sockets are called as the kernel does (pipe:[77]).
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "reports/follow/follow_starts.h"

namespace dyetrace::api {

// kInvalidArgument: says what a start looks like.
Result<reports::FollowQuestion> follow_question_in(const base::Json& body);

}  // namespace dyetrace::api
