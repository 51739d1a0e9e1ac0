#include "api/timeline/timeline_flows.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace dyetrace::api {
namespace {

struct Place {
    std::uint32_t lane = 0;
    std::uint64_t begin_ns = 0, end_ns = 0;
};

// Finds the events that flows name, in one pass over all.
std::unordered_map<std::uint64_t, Place> places_of(const TimelineIndex& index,
                                                   std::span<const FoundFlow> found) {
    std::unordered_map<std::uint64_t, Place> places;
    for (const FoundFlow& flow : found) {
        places.emplace(flow.from_event, Place{TimelineRow::kNone});
        places.emplace(flow.to_event, Place{TimelineRow::kNone});
    }
    std::uint32_t number = 0;
    for (const Lane& lane : index.lanes()) {
        for (const LaneEvent& event : lane.events()) {
            if (const auto place = places.find(event.id()); place != places.end()) {
                place->second = {number, event.begin_ns(), event.end_ns()};
            }
        }
        ++number;
    }
    return places;
}

// What bundles are told apart by: rows, and where in the window it leaves and arrives.
using Bundle = std::tuple<std::uint32_t, std::uint32_t, std::int64_t, std::int64_t>;

void add_to(DrawnFlow& bundle, const DrawnFlow& flow) {
    if (bundle.count == 0) {
        bundle = flow;
        return;
    }
    const auto mean = [&](std::uint64_t& of, std::uint64_t other) {
        const auto count = static_cast<std::int64_t>(bundle.count + 1);
        of += static_cast<std::uint64_t>(static_cast<std::int64_t>(other - of) / count);
    };
    mean(bundle.from_ns, flow.from_ns);
    mean(bundle.to_ns, flow.to_ns);
    ++bundle.count;
    bundle.bytes += flow.bytes;
    bundle.is_certain = bundle.is_certain && flow.is_certain;
}

}  // namespace

TimelineFlows::TimelineFlows(const TimelineIndex& index, std::span<const FoundFlow> found)
    : rows_(index.rows().begin(), index.rows().end()),
      lanes_(static_cast<std::uint32_t>(index.lanes().size())) {
    const auto places = places_of(index, found);
    for (const FoundFlow& flow : found) {
        const Place &from = places.at(flow.from_event), &to = places.at(flow.to_event);
        if (from.lane != TimelineRow::kNone && to.lane != TimelineRow::kNone) {
            flows_.push_back({from.lane,
                              to.lane,
                              from.begin_ns,
                              to.end_ns,
                              flow.bytes | (flow.is_certain ? kCertain : 0),
                              flow.from_event,
                              flow.to_event});
        }
    }
    std::sort(flows_.begin(), flows_.end(), [](const Flow& a, const Flow& b) {
        return std::tie(a.from_ns, a.from_event, a.to_event) <
               std::tie(b.from_ns, b.from_event, b.to_event);
    });
}

std::vector<std::uint32_t> TimelineFlows::rows_of_lanes(std::span<const std::uint32_t> rows) const {
    std::vector<std::uint32_t> of(lanes_, TimelineRow::kNone);
    std::vector<std::uint32_t> sorted(rows.begin(), rows.end());
    std::sort(sorted.begin(), sorted.end());  // what is beneath a row has a higher number
    for (const std::uint32_t row : sorted) {
        std::fill_n(of.begin() + rows_[row].first_lane, rows_[row].lanes, row);
    }
    return of;
}

std::vector<DrawnFlow> TimelineFlows::drawn(const TimeWindow& window,
                                            std::span<const std::uint32_t> rows) const {
    const std::vector<std::uint32_t> row_of = rows_of_lanes(rows);
    std::vector<DrawnFlow> singles;
    std::map<Bundle, DrawnFlow> bundles;
    const auto bucket = [&](std::uint64_t time_ns) {
        const double edge = kBundlePixels;
        return static_cast<std::int64_t>(
            std::clamp(window.position(time_ns), -edge, window.width + edge) / edge);
    };
    for (const Flow& flow : flows_) {
        if (flow.from_ns >= window.to_ns) {
            break;
        }
        const std::uint32_t from = row_of[flow.from_lane], to = row_of[flow.to_lane];
        if (flow.to_ns < window.from_ns || from == to || from == TimelineRow::kNone ||
            to == TimelineRow::kNone) {
            continue;
        }
        const DrawnFlow drawn{.from_row = from,
                              .to_row = to,
                              .from_ns = flow.from_ns,
                              .to_ns = flow.to_ns,
                              .count = 1,
                              .bytes = flow.bytes & ~kCertain,
                              .is_certain = (flow.bytes & kCertain) != 0,
                              .from_event = flow.from_event,
                              .to_event = flow.to_event};
        if (singles.size() <= kSinglesMax) {
            singles.push_back(drawn);
        }
        add_to(bundles[{from, to, bucket(flow.from_ns), bucket(flow.to_ns)}], drawn);
    }
    if (singles.size() <= kSinglesMax) {
        return singles;
    }
    std::vector<DrawnFlow> bundled;
    bundled.reserve(bundles.size());
    for (const auto& [key, bundle] : bundles) {
        bundled.push_back(bundle);
    }
    std::stable_sort(bundled.begin(), bundled.end(), [](const DrawnFlow& a, const DrawnFlow& b) {
        return a.bytes > b.bytes;
    });
    bundled.resize(std::min(bundled.size(), kSinglesMax));
    return bundled;
}

}  // namespace dyetrace::api
