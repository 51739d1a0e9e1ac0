// Gives room back: a segment without its events.
//
//   TRY(const std::uint64_t lost, thin_segment(folder, 7, schema::GapReason::kSpoolFull));
//
// The facts stay, since later events name what they announced; of the events of each CPU a gap is left that says how many there
// were and from when to when. The segment is replaced by rename: a reader sees one or the other. What was damaged in it stays a
// gap of its own reason.
//
// Limits: the segment must not be growing; one block in memory at a time.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "schema/generated/records.h"
#include "trace/trace_folder.h"

namespace dyetrace::trace {

// How many events are gone.
Result<std::uint64_t> thin_segment(TraceFolder& folder,
                                   std::uint64_t number,
                                   schema::GapReason reason);

}  // namespace dyetrace::trace
