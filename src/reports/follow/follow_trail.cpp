#include "reports/follow/follow_trail.h"

#include <algorithm>
#include <map>
#include <utility>

#include "schema/generated/enum_names.h"

namespace dyetrace::reports {

using analysis::Direction;
using analysis::kUnknown;
using analysis::Operation;
using analysis::TrailStep;

std::string rules_text(unsigned rules) {
    std::string text;
    for (std::uint8_t rule = 0; rule < schema::flow_rule_names().size(); ++rule) {
        if ((rules & 1u << rule) != 0) {
            text += (text.empty() ? "" : ", ") + std::string(schema::flow_rule_name(rule));
        }
    }
    return text;
}

std::size_t FollowTrailBuilder::HashOfKey::operator()(const Key& key) const {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;
    return (((key.process * kOdd + key.program) * kOdd + key.call) * kOdd + key.object) * kOdd +
           key.object2;
}

void FollowTrailBuilder::add(const Operation& operation, std::uint64_t call, std::size_t program) {
    ProcessMoves& moves = moves_of_[operation.process];
    if (operation.to.object != 0 && operation.bytes > 0) {
        moves.last_write_ns = std::max(moves.last_write_ns, operation.start_ns);
        moves.written.add(operation);
    }
    if (operation.from.object != 0 && operation.bytes > 0) {
        moves.first_read_ns = std::min(moves.first_read_ns, operation.end_ns);
        moves.read.add(operation);
    }
    if (!trail_.has_reached(operation.event)) {
        return;
    }
    const Key key{operation.process, program, call, operation.from.object, operation.to.object};
    const auto [found, is_new] = by_key_.try_emplace(key, hops_.size());
    if (is_new) {
        hops_.push_back({.process = key.process,
                         .call = call,
                         .object = key.object,
                         .object2 = key.object2,
                         .first_event = operation.event,
                         .start_ns = operation.start_ns,
                         .first_ns = operation.end_ns});
    }
    FollowHop& hop = hops_[found->second];
    if (operation.end_ns < hop.first_ns) {
        hop.first_ns = operation.end_ns;
        hop.first_event = operation.event;
    }
    hop.start_ns = std::min(hop.start_ns, operation.start_ns);
    hop.end_ns = std::max(hop.end_ns, operation.end_ns);
    ++hop.calls;
    hop.spread.add(operation);
    hop.bytes += trail_.bytes_reached(operation.event);
    places_.emplace(operation.event,
                    Place{found->second, operation.from.offset, operation.to.offset});
}

void FollowTrailBuilder::widen(std::size_t hop, std::uint64_t offset, std::uint64_t bytes) {
    if (offset == kUnknown) {
        return;
    }
    hops_[hop].offset = std::min(hops_[hop].offset, offset);
    hops_[hop].offset_end = std::max(hops_[hop].offset_end, offset + bytes);
}

void FollowTrailBuilder::add_starts() {
    for (const analysis::TrailPiece& start : starts_) {
        const auto place = places_.find(start.event);
        if (place == places_.end()) {
            continue;
        }
        hops_[place->second.hop].is_start = true;
        const std::uint64_t offset = place->second.from_offset != kUnknown
                                         ? place->second.from_offset
                                         : place->second.to_offset;
        if (offset != kUnknown) {
            widen(place->second.hop, offset + start.begin, start.end - start.begin);
        }
    }
}

std::vector<FollowLink> FollowTrailBuilder::links() const {
    std::map<std::pair<std::size_t, std::size_t>, FollowLink> by_ends;
    for (const TrailStep& step : trail_.steps()) {
        const auto near = places_.find(step.near_event), far = places_.find(step.far_event);
        if (near == places_.end() || far == places_.end()) {
            continue;
        }
        FollowLink& link = by_ends[{near->second.hop, far->second.hop}];
        link.near = near->second.hop;
        link.far = far->second.hop;
        ++link.flows;
        link.bytes += step.bytes;
        link.rules |= 1u << static_cast<unsigned>(step.rule);
        link.certainty = std::min(link.certainty, step.certainty);
    }
    std::vector<FollowLink> links;
    links.reserve(by_ends.size());
    for (const auto& [ends, link] : by_ends) {
        links.push_back(link);
    }
    return links;
}

bool FollowTrailBuilder::went_on(const FollowHop& hop, const ProcessMoves& moves) const {
    return direction_ == Direction::kForward
               ? hop.object2 == 0 && moves.last_write_ns >= hop.start_ns
               : hop.object == 0 && moves.first_read_ns <= hop.end_ns;
}

LostSight FollowTrailBuilder::why(const FollowHop& hop) const {
    const ProcessMoves& moves = moves_of_.at(hop.process);
    if (!went_on(hop, moves)) {
        return LostSight::kNot;
    }
    const bool forward = direction_ == Direction::kForward;
    const Spread& taken = forward ? hop.spread : moves.read;
    const Spread& given = forward ? moves.written : hop.spread;
    if (!taken.is_known() || !given.is_known() || taken.is_random() == given.is_random()) {
        return LostSight::kChanged;
    }
    return given.is_random() ? LostSight::kScrambled : LostSight::kUnscrambled;
}

void FollowTrailBuilder::find_lost_sight(const std::vector<FollowLink>& links) {
    std::vector<bool> has_next(hops_.size(), false);
    for (const FollowLink& link : links) {
        has_next[link.near] = true;
    }
    for (std::size_t i = 0; i < hops_.size(); ++i) {
        hops_[i].lost_sight = has_next[i] ? LostSight::kNot : why(hops_[i]);
    }
}

void FollowTrailBuilder::drop_reached_starts(const std::vector<FollowLink>& links) {
    for (const FollowLink& link : links) {
        const std::uint64_t near_ns = hops_[link.near].moved_ns(),
                            far_ns = hops_[link.far].moved_ns();
        if (direction_ == Direction::kForward ? near_ns < far_ns : near_ns > far_ns) {
            hops_[link.far].is_start = false;
        }
    }
}

FollowTrail FollowTrailBuilder::build(std::size_t hops_max) {
    add_starts();
    FollowTrail result;
    for (const TrailStep& step : trail_.steps()) {
        ++result.flows[static_cast<std::size_t>(step.certainty)];
        if (const auto far = places_.find(step.far_event); far != places_.end()) {
            widen(far->second.hop, step.far_offset, step.bytes);
        }
    }
    std::vector<FollowLink> all_links = links();
    find_lost_sight(all_links);
    if (drops_reached_starts_) {
        drop_reached_starts(all_links);
    }
    std::vector<std::size_t> order(hops_.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(hops_[a].moved_ns(), hops_[a].first_event) <
               std::pair(hops_[b].moved_ns(), hops_[b].first_event);
    });
    std::vector<std::size_t> rank(hops_.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        rank[order[i]] = i;
        if (i < hops_max) {
            result.hops.push_back(std::move(hops_[order[i]]));
        }
    }
    result.hops_left_out = order.size() - result.hops.size();
    for (FollowLink& link : all_links) {
        link.near = rank[link.near];
        link.far = rank[link.far];
        if (std::max(link.near, link.far) < result.hops.size()) {
            result.links.push_back(link);
        }
    }
    std::sort(result.links.begin(), result.links.end(), [](const auto& a, const auto& b) {
        return std::pair(a.near, a.far) < std::pair(b.near, b.far);
    });
    result.direction = direction_;
    result.is_cut = trail_.is_cut();
    return result;
}

}  // namespace dyetrace::reports
