#include "probes/tracepoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/harmless.h"
#include "probes/near_names.h"

namespace dyetrace::probes {
namespace {

// 2,300 events are 60 KiB; with every driver of a distribution it is a tenth of this.
constexpr std::size_t kEventListBytesMax = 4 << 20;

// What may stand in a path: no slash, and no "." or "..".
bool can_name_an_event(const std::string& name) {
    return !name.empty() && name.size() <= kPatternBytesMax && name[0] != '.' &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return c > ' ' && c <= '~' && c != '/' && c != ':';
           });
}

}  // namespace

Result<Tracepoints> Tracepoints::of_this_kernel() {
    TRY(KernelFolder tracing, KernelFolder::tracing());
    return Tracepoints(std::move(tracing));
}

Result<std::vector<std::string>> Tracepoints::matching(const std::string& pattern) const {
    TRY(const std::string text, tracing_.read("available_events", kEventListBytesMax));
    const bool has_category = pattern.find(':') != pattern.npos;
    std::vector<std::string> found;
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
        end = std::min(text.find('\n', begin), text.size());
        std::string event = text.substr(begin, end - begin);
        const std::size_t colon = event.find(':');
        if (colon != event.npos &&
            matches_pattern(has_category ? event : event.substr(colon + 1), pattern)) {
            found.push_back(std::move(event));
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

Result<Tracepoint> Tracepoints::find(const std::string& category, const std::string& name) const {
    const std::string event = category + ":" + name;
    if (!can_name_an_event(category) || !can_name_an_event(name)) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("'{}' is no tracepoint: write sched:sched_switch",
                                 base::make_harmless(event)));
    }
    auto text = tracing_.read(fmt::format("events/{}/{}/format", category, name), kFormatBytesMax);
    if (!text.ok() && text.error().code() == ErrorCode::kNotFound) {
        TRY(const std::vector<std::string> all, matching("*"));
        return Error(ErrorCode::kNotFound,
                     fmt::format("this kernel has no tracepoint '{}'{}",
                                 event,
                                 perhaps(event, {all.begin(), all.end()})));
    }
    TRY(const std::string format, std::move(text));
    return parse_tracepoint_format(category, format)
        .with_context(fmt::format("tracepoint {}", event));
}

}  // namespace dyetrace::probes
