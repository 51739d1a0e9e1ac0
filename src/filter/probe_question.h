// What a statement wants to know of a probe: which values of each firing, and which earlier firing of another one belongs to it.
//
//   FROM tracepoint('sched', 'sched_switch') AS s
//        ASOF JOIN tracepoint('sched', 'sched_wakeup') AS w ON s.arguments.next_pid = w.arguments.pid AND s.time_ns >= w.time_ns
//
//   fires    tracepoint('sched', 'sched_switch')   s   time_ns, arguments.next_pid
//   before   tracepoint('sched', 'sched_wakeup')   w   time_ns, arguments.pid           the latest one with
//   same     arguments.next_pid = arguments.pid
//
// A row has the values of both, named as the statement names them: "s.time_ns". Without a join they have no name before the point.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "filter/row.h"

namespace dyetrace::filter {

struct AskedProbe {
    std::string probe;  // "tracepoint('sched', 'sched_switch')"
    std::string alias;
    std::vector<std::string> columns;

    std::string name_of(const std::string& column) const {
        return alias.empty() ? column : alias + "." + column;
    }
    bool operator==(const AskedProbe&) const = default;
};

struct ProbeQuestion {
    AskedProbe fires;
    std::optional<AskedProbe> before = {};
    // Columns of `fires` and of `before`, which both have.
    std::vector<std::pair<std::string, std::string>> same = {};

    bool operator==(const ProbeQuestion&) const = default;
};

// Says what the columns of a row are: those of `fires`, then those of `before`.
using FindProbe = std::function<Result<std::vector<RowColumn>>(const ProbeQuestion& question)>;

}  // namespace dyetrace::filter
