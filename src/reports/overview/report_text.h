// One screen about a trace, for a person or as JSON.
//
//   web1.trace   214,883 calls in 6.2 s · 3.1 MB · nothing lost
//
//   what happened                    calls  bytes    time   p50    p99    max
//   sqlite3[4711]  wrote  /tmp/demo.db  …
//
//   worth a look
//   · sqlite3[4711] spent 58 % of its time in 96 syncs of …
#pragma once

#include <cstddef>
#include <string>

#include "analysis/findings/report_rows.h"

namespace dyetrace::reports {

struct ReportStyle {
    std::size_t width = 80;  // columns of the terminal
    bool colour = false;
};

std::string report_text(const analysis::Report& report, const ReportStyle& style);

// One object, ended by a line break.
std::string report_json(const analysis::Report& report);

}  // namespace dyetrace::reports
