#include "analysis/verify/strip.h"

#include <algorithm>
#include <map>
#include <utility>

#include "content/content_sum.h"

namespace dyetrace::analysis {

Strip::Strip(std::vector<MovedPiece> pieces) : pieces_(std::move(pieces)) {
    std::uint64_t sum = 0, end = 0;
    std::uint32_t run = 0;
    bool in_run = false, is_at_cut = false;
    const auto end_run = [&] {
        if (in_run) {
            cuts_.push_back({end, sum, run++, std::nullopt});
        }
        in_run = false;
    };
    for (const MovedPiece& piece : pieces_) {
        if (!piece.sum || piece.position != end) {
            end_run();
        }
        if (!piece.sum) {
            continue;
        }
        if (!in_run) {
            sum = 0;
            cuts_.push_back({piece.position, 0, run, std::nullopt});
            in_run = true;
        } else if (!is_at_cut) {
            cuts_.push_back({piece.position, sum, run, std::nullopt});
        }
        for (const SummedAnchor& anchor : piece.anchors) {
            cuts_.push_back({piece.position + anchor.end,
                             content::joined_sum(sum, anchor.prefix_sum, anchor.end),
                             run,
                             anchor.fingerprint});
        }
        sum = content::joined_sum(sum, *piece.sum, piece.bytes);
        end = piece.position + piece.bytes;
        is_at_cut = !piece.anchors.empty() && piece.anchors.back().end == piece.bytes;
    }
    end_run();
}

std::size_t Strip::index_at(std::uint64_t position) const {
    const auto found =
        std::partition_point(pieces_.begin(), pieces_.end(), [&](const MovedPiece& piece) {
            return piece.position + piece.bytes <= position;
        });
    return std::min<std::size_t>(static_cast<std::size_t>(found - pieces_.begin()),
                                 pieces_.size() - 1);
}

std::uint64_t Strip::moved_between(std::uint64_t begin, std::uint64_t end) const {
    std::uint64_t bytes = 0;
    for (std::size_t i = index_at(begin); i < pieces_.size() && pieces_[i].position < end; ++i) {
        const std::uint64_t from = std::max(begin, pieces_[i].position);
        const std::uint64_t to = std::min(end, pieces_[i].position + pieces_[i].bytes);
        bytes += to > from ? to - from : 0;
    }
    return bytes;
}

std::optional<std::size_t> Strip::cut_at(std::uint64_t position) const {
    const auto found = std::partition_point(
        cuts_.begin(), cuts_.end(), [&](const Cut& cut) { return cut.position < position; });
    return found != cuts_.end() && found->position == position
               ? std::optional(static_cast<std::size_t>(found - cuts_.begin()))
               : std::nullopt;
}

std::optional<std::uint64_t> Strip::sum_of(std::uint64_t begin, std::uint64_t end) const {
    const auto from = cut_at(begin), to = cut_at(end);
    return from && to ? sum_between(cuts_[*from], cuts_[*to]) : std::nullopt;
}

std::optional<std::uint64_t> sum_between(const Cut& from, const Cut& to) {
    if (from.run != to.run) {
        return std::nullopt;
    }
    return content::sum_of_rest(to.sum, from.sum, to.position - from.position);
}

std::vector<Strip> strips_of(const std::vector<MovedPiece>& pieces) {
    std::vector<Strip> strips;
    std::map<std::uint64_t, MovedPiece> open;  // by position
    const auto close = [&] {
        std::vector<MovedPiece> in_order;
        in_order.reserve(open.size());
        for (const auto& [position, piece] : open) {
            in_order.push_back(piece);
        }
        if (!in_order.empty()) {
            strips.emplace_back(std::move(in_order));
        }
        open.clear();
    };
    for (const MovedPiece& piece : pieces) {
        const auto next = open.lower_bound(piece.position);
        const bool meets_next = next != open.end() && next->first < piece.position + piece.bytes;
        const bool meets_last =
            next != open.begin() &&
            std::prev(next)->first + std::prev(next)->second.bytes > piece.position;
        if (meets_next || meets_last) {
            close();
        }
        open.emplace(piece.position, piece);
    }
    close();
    return strips;
}

}  // namespace dyetrace::analysis
