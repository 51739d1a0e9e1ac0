// The events of a trace to the writers of other formats, one after another: a row of SQL each, never all at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exporter/event.h"
#include "store/database.h"

namespace dyetrace::reports {

enum class ExportOrder : std::uint8_t {
    kTime,     // of two that begin together the longer first
    kProcess,  // process by process, in each by time
};

struct ExportQuestion {
    std::string from = "events";  // what has the columns of `events`, as SQL after FROM
    ExportOrder order = ExportOrder::kTime;
    bool with_flows = true;
    bool with_arguments = true;
};

// Columns of `events` that go with each event, as its values.
const std::vector<exporter::ValueName>& exported_values();

// An event's texts are valid until the function returns. Returns how many there were.
Result<std::uint64_t> each_event(store::Database& database,
                                 const ExportQuestion& question,
                                 const std::atomic<bool>& cancelled,
                                 const std::function<Result<void>(const exporter::Event&)>& each);

}  // namespace dyetrace::reports
