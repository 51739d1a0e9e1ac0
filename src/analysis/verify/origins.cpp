#include "analysis/verify/origins.h"

#include <algorithm>
#include <utility>

namespace dyetrace::analysis {

Origins::Origins(const std::vector<Copy>& copies, std::span<const TrailFlow> flows)
    : copies_(copies) {
    for (std::size_t i = 0; i < copies.size(); ++i) {
        for (const MovedPiece& piece : copies[i].strip.pieces()) {
            copy_of_.emplace(piece.event, i);
        }
    }
    for (const TrailFlow& flow : flows) {
        if (copy_of_.contains(flow.to_event)) {
            flows_.push_back(flow);
        }
    }
    std::sort(flows_.begin(), flows_.end(), [](const TrailFlow& a, const TrailFlow& b) {
        return std::pair(a.to_event, a.to_position) < std::pair(b.to_event, b.to_position);
    });
}

std::optional<std::size_t> Origins::copy_of(std::uint64_t event) const {
    const auto found = copy_of_.find(event);
    return found == copy_of_.end() ? std::nullopt : std::optional(found->second);
}

// Whether what that copy put into the file is good where the change is: then it is the last that was.
bool Origins::was_written_well(std::optional<std::size_t> writer, Change& change) const {
    if (!writer || *writer == change.good) {
        return writer.has_value();
    }
    const StripComparison comparison =
        compare_strips(copies_[change.reference].strip, copies_[*writer].strip);
    const bool is_good = std::none_of(
        comparison.stretches.begin(), comparison.stretches.end(), [&](const Stretch& one) {
            return one.begin < change.stretch.end && change.stretch.begin < one.end;
        });
    if (is_good) {
        change.good = *writer;
        change.good_begin = comparison.place_of(change.stretch.begin);
        change.good_event = copies_[*writer].strip.piece_at(change.good_begin).event;
    }
    return is_good;
}

std::optional<std::uint64_t> Origins::replacer_of(
    Change& change, const std::function<bool(std::size_t)>& is_member) const {
    const bool in_file = change.place == Place::kFile;
    if (!in_file && change.place != Place::kMemory && change.place != Place::kBetween) {
        return std::nullopt;
    }
    const Strip& strip = copies_[change.bad].strip;
    const Stretch& stretch = change.stretch;
    for (std::size_t i = strip.index_at(stretch.copy_begin);
         i < strip.pieces().size() && strip.pieces()[i].position < stretch.copy_end;
         ++i) {
        const MovedPiece& piece = strip.pieces()[i];
        auto flow = std::partition_point(flows_.begin(), flows_.end(), [&](const TrailFlow& one) {
            return one.to_event < piece.event;
        });
        for (; flow != flows_.end() && flow->to_event == piece.event; ++flow) {
            const std::uint64_t begin = piece.position + flow->to_position;
            if (begin >= stretch.copy_end || begin + flow->bytes <= stretch.copy_begin ||
                (in_file && flow->rule != schema::FlowRule::kFile)) {
                continue;
            }
            const std::optional<std::size_t> from = copy_of(flow->from_event);
            if (in_file ? !was_written_well(from, change) : !from || !is_member(*from)) {
                return flow->from_event;
            }
        }
    }
    return std::nullopt;
}

}  // namespace dyetrace::analysis
