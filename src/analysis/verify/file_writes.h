// Who wrote last what copies read from files.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/verify/copies.h"

namespace dyetrace::analysis {

class FileWrites {
  public:
    FileWrites(const std::vector<Copy>& copies, std::span<const TrailFlow> flows) {
        for (std::size_t i = 0; i < copies.size(); ++i) {
            for (const MovedPiece& piece : copies[i].strip.pieces()) {
                copy_of_.emplace(piece.event, i);
            }
        }
        for (const TrailFlow& flow : flows) {
            if (flow.rule == schema::FlowRule::kFile && copy_of_.contains(flow.to_event)) {
                flows_.push_back(flow);
            }
        }
        std::sort(flows_.begin(), flows_.end(), [](const TrailFlow& a, const TrailFlow& b) {
            return std::pair(a.to_event, a.to_position) < std::pair(b.to_event, b.to_position);
        });
    }

    // The flows to what that event read, by position.
    std::span<const TrailFlow> read_by(std::uint64_t event) const {
        const auto first = std::partition_point(
            flows_.begin(), flows_.end(), [&](const auto& flow) { return flow.to_event < event; });
        const auto last = std::partition_point(
            first, flows_.end(), [&](const auto& flow) { return flow.to_event == event; });
        return {first, last};
    }
    // The copy that the event is part of.
    std::optional<std::size_t> copy_of(std::uint64_t event) const {
        const auto found = copy_of_.find(event);
        return found == copy_of_.end() ? std::nullopt : std::optional(found->second);
    }

  private:
    std::unordered_map<std::uint64_t, std::size_t> copy_of_;  // by event
    std::vector<TrailFlow> flows_;                            // by to_event
};

}  // namespace dyetrace::analysis
