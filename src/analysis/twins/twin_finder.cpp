#include "analysis/twins/twin_finder.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

namespace dyetrace::analysis {

void TwinFinder::add(const TwinRecord& record, Twins& found) {
    if (!continues(record)) {
        end(found);
    }
    end_ns_ = std::max(end_ns_, record.end_ns.value_or(record.start_ns));
    bunch_.push_back({record, 0, parts_.size(), parts_.size()});
}

void TwinFinder::add_part(const TwinPart& part) {
    parts_.push_back(part);
    ++bunch_.back().parts_end;
}

void TwinFinder::end(Twins& found) {
    if (bunch_.size() > 1) {
        std::map<std::uint32_t, std::size_t> turns;
        for (Member& member : bunch_) {
            member.turn = turns[member.record.host]++;
        }
        std::ranges::stable_sort(bunch_, [](const Member& a, const Member& b) {
            return std::tie(a.turn, a.record.host) < std::tie(b.turn, b.record.host);
        });
        const Member* first = bunch_.data();
        for (const Member& member : std::span(bunch_).subspan(1)) {
            if (member.turn == first->turn) {
                add_pair(*first, member, found);
            } else {
                first = &member;
            }
        }
    }
    bunch_.clear();
    parts_.clear();
    end_ns_ = 0;
}

bool TwinFinder::continues(const TwinRecord& record) {
    if (bunch_.empty() || bunch_.size() == kBunchMax) {
        return false;
    }
    const TwinRecord& last = bunch_.back().record;
    if (last.thread != record.thread || last.what != record.what) {
        return false;
    }
    const bool has_only_end = record.end_ns == record.start_ns;
    return !last.end_ns || record.start_ns <= end_ns_ + (has_only_end ? kEndsApartNs : 0);
}

void TwinFinder::add_pair(const Member& first, const Member& twin, Twins& found) const {
    found.records.push_back({twin.record.id, first.record.id});
    for (const auto& [handle, first_handle] :
         {std::pair(twin.record.handle, first.record.handle),
          std::pair(twin.record.handle2, first.record.handle2)}) {
        if (handle && first_handle) {
            found.handles.push_back({twin.record.host, first.record.host, *handle, *first_handle});
        }
    }
    const std::span all(parts_);
    for (const TwinPart& part : all.subspan(twin.parts_begin, twin.parts_end - twin.parts_begin)) {
        const auto parts = all.subspan(first.parts_begin, first.parts_end - first.parts_begin);
        const auto same = std::ranges::find(parts, part.part, &TwinPart::part);
        if (same != parts.end()) {
            found.records.push_back({part.id, same->id});
        }
    }
}

}  // namespace dyetrace::analysis
