#include "apps/shared_clock.h"

#include <algorithm>

#include "apps/asked_rows.h"
#include "schema/dictionary.h"

namespace dyetrace::apps {

Result<SharedClock> SharedClock::of(store::Database& database) {
    SharedClock clock;
    TRY(each_row(
        database,
        "SELECT host_index, wall_offset_ns FROM hosts WHERE (SELECT count(*) FROM hosts) > 1",
        [&](Row row) { clock.hosts_[number_of(row[0])].wall_offset_ns = number_of(row[1]); }));
    if (clock.hosts_.empty()) {
        return clock;
    }
    TRY(each_row(
        database,
        "SELECT host_index, from_ns, to_ns, cluster_ns, cluster_to_ns FROM "
        "internal.made_clock_map WHERE from_ns < to_ns ORDER BY 1, 2",
        [&](Row row) {
            clock.hosts_[number_of(row[0])].pieces.push_back(
                {number_of(row[1]), number_of(row[2]), number_of(row[3]), number_of(row[4])});
        }));
    return clock;
}

std::uint64_t SharedClock::at(std::uint64_t event, std::uint64_t boot_ns) const {
    return is_needed() ? at_host(event / schema::event_id(1, 0, 0), boot_ns) : boot_ns;
}

// Straight within a piece; before the first and behind the last one as there.
std::uint64_t SharedClock::at_host(std::uint64_t host_index, std::uint64_t boot_ns) const {
    const auto found = hosts_.find(host_index);
    if (found == hosts_.end()) {
        return boot_ns;
    }
    const std::vector<Piece>& pieces = found->second.pieces;
    if (pieces.empty()) {
        return boot_ns + found->second.wall_offset_ns;
    }
    const auto next = std::upper_bound(
        pieces.begin(), pieces.end(), boot_ns, [](std::uint64_t ns, const Piece& piece) {
            return ns < piece.from_ns;
        });
    const Piece& piece = next == pieces.begin() ? pieces.front() : *(next - 1);
    const auto since = static_cast<__int128>(boot_ns) - static_cast<__int128>(piece.from_ns);
    const auto length = static_cast<__int128>(piece.to_ns - piece.from_ns);
    const auto risen =
        static_cast<__int128>(piece.cluster_to_ns) - static_cast<__int128>(piece.cluster_ns);
    return static_cast<std::uint64_t>(static_cast<__int128>(piece.cluster_ns) +
                                      since * risen / length);
}

}  // namespace dyetrace::apps
