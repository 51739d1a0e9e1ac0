// Whence the bytes of copies come, so that what replaced others is not taken for what became of them.
//
//   A writes X to /f, B writes Y over a part of it, C reads both      held against X, what C read there is not bad: B replaced it
//   D reads /old and a stream of new parts, writes /new               held against /old, the new parts came from the stream
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/verify/copies.h"

namespace dyetrace::analysis {

class Origins {
  public:
    // `copies` must outlive it.
    Origins(const std::vector<Copy>& copies, std::span<const TrailFlow> flows);

    // The call that put other bytes where the change is, if one is known. Of a file that was written again with the same bytes that
    // writer becomes the last good one. `is_member`: whether a copy comes from the reference.
    std::optional<std::uint64_t> replacer_of(
        Change& change, const std::function<bool(std::size_t)>& is_member) const;

  private:
    bool was_written_well(std::optional<std::size_t> writer, Change& change) const;
    std::optional<std::size_t> copy_of(std::uint64_t event) const;

    const std::vector<Copy>& copies_;
    std::unordered_map<std::uint64_t, std::size_t> copy_of_;  // by event
    std::vector<TrailFlow> flows_;                            // to events of copies, by to_event
};

}  // namespace dyetrace::analysis
