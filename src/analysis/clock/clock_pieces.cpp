#include "analysis/clock/clock_pieces.h"

#include <algorithm>
#include <cmath>

namespace dyetrace::analysis {
namespace {

using base::HostClock;
using base::Instant;

double between(double from, double to, double share) {
    return from + (to - from) * share;
}

}  // namespace

void ClockPieces::add(HostClock host, const ClockPiece& piece) {
    pieces_[host.host].push_back(piece);
}

std::optional<ClusterTime> ClockPieces::at(Instant<HostClock> instant) const {
    const auto found = pieces_.find(instant.clock().host);
    if (found == pieces_.end()) {
        return std::nullopt;
    }
    const std::vector<ClockPiece>& pieces = found->second;
    const std::int64_t host_ns = instant.ns();
    const auto next = std::upper_bound(
        pieces.begin(), pieces.end(), host_ns, [](std::int64_t ns, const ClockPiece& piece) {
            return ns < piece.from_ns;
        });
    const ClockPiece& piece = next == pieces.begin() ? pieces.front() : next[-1];
    const std::int64_t since = host_ns - piece.from_ns, length = piece.to_ns - piece.from_ns;
    const double share = static_cast<double>(since) / static_cast<double>(length);
    // The difference from the host's own pace is small: no bits of a long time are lost.
    const std::int64_t gained = piece.cluster_to_ns - piece.cluster_ns - length;
    const Instant<base::ClusterClock> time(
        {},
        piece.cluster_ns + since +
            static_cast<std::int64_t>(std::floor(static_cast<double>(gained) * share)));
    const double below = between(piece.below_ns, piece.below_to_ns, share);
    const double above = between(piece.above_ns, piece.above_to_ns, share);
    const bool is_bounded =
        since >= 0 && since < length && std::isfinite(below) && std::isfinite(above);
    return ClusterTime{.time = time,
                       .earliest = is_bounded ? time - std::llround(std::ceil(below)) : time,
                       .latest = is_bounded ? time + std::llround(std::ceil(above)) : time,
                       .is_bounded = is_bounded};
}

}  // namespace dyetrace::analysis
