// One event as a JSON object with the columns of the table `events`.
//
//   {"event_id":"18014398509481984","host":"db1","time":"2026-11-21 09:14:07.120381000","start_ns":…,"name":"openat",…}
//
// The same names and values as in SQL, ids as strings, `arguments` an object; a column that is NULL is left out.
#pragma once

#include <cstdint>
#include <string>

#include "schema/dictionary.h"
#include "strace/trace_output.h"

namespace dyetrace::strace {

struct HostFacts {
    std::string name;
    std::int64_t wall_offset_ns = 0;  // wall clock minus CLOCK_BOOTTIME
};

// `dictionary` must outlive it.
EventPrinter json_printer(HostFacts host, const schema::Dictionary& dictionary);

// "2026-11-21 09:14:07.120381000", UTC.
std::string timestamp_text(std::int64_t wall_ns);

}  // namespace dyetrace::strace
