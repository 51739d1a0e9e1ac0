#include "analysis/dataflow/strips.h"

#include <algorithm>
#include <vector>

#include "content/content_sum.h"

namespace dyetrace::analysis {

std::optional<StripPlace> SummedStrip::border_at(std::uint64_t position) const {
    if (position == end.position) {
        return end;
    }
    const auto call = std::ranges::lower_bound(
        calls, position, {}, [](const Call& one) { return one.begin.position; });
    return call != calls.end() && call->begin.position == position ? std::optional(call->begin)
                                                                   : std::nullopt;
}

std::uint64_t sum_between(const StripPlace& from, const StripPlace& to) {
    return content::sum_of_rest(to.sum, from.sum, to.position - from.position);
}

SummedStrip* Strips::add(const Operation& operation, const Act& act) {
    const std::pair<std::uint64_t, std::uint64_t> owner{operation.process, act.object};
    if (!operation.sum || act.offset == kUnknown) {
        last_of_.erase(owner);
        return nullptr;
    }
    std::uint64_t& id = last_of_[owner];
    SummedStrip* strip = find(id);
    if (strip == nullptr || strip->end.position != act.offset) {
        id = ++ids_;
        strip = &strips_[id];
        *strip = {.id = id, .object = act.object, .end = {act.offset, 0}, .calls = {}};
    }
    strip->calls.push_back({operation.event, strip->end});
    ++calls_;
    if (strip->calls.size() > kCallsOfStripMax) {
        strip->calls.pop_front();
        --calls_;
        ++forgotten_;
    }
    strip->end = {act.offset + operation.bytes,
                  content::joined_sum(strip->end.sum, *operation.sum, operation.bytes)};
    strip->used = ++used_;
    if (strips_.size() > kStripsMax || calls_ > kCallsMax) {
        forget_oldest();
    }
    return strip;
}

SummedStrip* Strips::find(std::uint64_t id) {
    const auto strip = strips_.find(id);
    return strip == strips_.end() ? nullptr : &strip->second;
}

// The quarter of them that did not grow for longest: not the one that just did.
void Strips::forget_oldest() {
    std::vector<std::uint64_t> used;
    used.reserve(strips_.size());
    for (const auto& [id, strip] : strips_) {
        used.push_back(strip.used);
    }
    const auto quarter = used.begin() + static_cast<std::ptrdiff_t>(used.size() / 4);
    std::nth_element(used.begin(), quarter, used.end());
    std::erase_if(strips_, [&](const auto& one) {
        const SummedStrip& strip = one.second;
        if (strip.used >= *quarter) {
            return false;
        }
        calls_ -= strip.calls.size();
        forgotten_ += strip.calls.size();
        return true;
    });
    std::erase_if(last_of_, [&](const auto& last) { return !strips_.contains(last.second); });
}

}  // namespace dyetrace::analysis
