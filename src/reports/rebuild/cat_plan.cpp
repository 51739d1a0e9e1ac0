#include "reports/rebuild/cat_plan.h"

#include <algorithm>
#include <iterator>

namespace dyetrace::reports {
namespace {

// Stretches that do not overlap, by where they begin: what is painted last is on top.
class Canvas {
  public:
    void paint(const CatStretch& stretch) {
        if (stretch.bytes == 0) {
            return;
        }
        cut_at(stretch.begin);
        cut_at(stretch.begin + stretch.bytes);
        painted_.erase(painted_.lower_bound(stretch.begin),
                       painted_.lower_bound(stretch.begin + stretch.bytes));
        painted_.emplace(stretch.begin, stretch);
    }

    // They reach from `begin` to `end` without a gap.
    std::vector<CatStretch> stretches(std::uint64_t begin, std::uint64_t end) {
        cut_at(begin);
        cut_at(end);
        std::vector<CatStretch> out;
        std::uint64_t at = begin;
        for (auto it = painted_.lower_bound(begin); it != painted_.end() && it->first < end; ++it) {
            if (it->first > at) {
                out.push_back({at, it->first - at, std::nullopt});
            }
            out.push_back(it->second);
            at = it->first + it->second.bytes;
        }
        if (at < end) {
            out.push_back({at, end - at, std::nullopt});
        }
        return out;
    }

    std::uint64_t begin() const { return painted_.empty() ? 0 : painted_.begin()->first; }
    std::uint64_t end() const {
        return painted_.empty() ? 0 : painted_.rbegin()->first + painted_.rbegin()->second.bytes;
    }

  private:
    void cut_at(std::uint64_t place) {
        auto after = painted_.lower_bound(place);
        if (after == painted_.begin()) {
            return;
        }
        CatStretch& left = std::prev(after)->second;
        if (left.begin + left.bytes <= place) {
            return;
        }
        CatStretch right = left;
        const std::uint64_t kept = place - left.begin;
        right.begin = place;
        right.bytes -= kept;
        left.bytes = kept;
        if (left.part) {
            right.part->place.offset += static_cast<std::uint32_t>(kept);
            right.part->place.length -= static_cast<std::uint32_t>(kept);
            left.part->place.length = static_cast<std::uint32_t>(kept);
        }
        painted_.emplace_hint(after, place, right);
    }

    std::map<std::uint64_t, CatStretch> painted_;
};

void paint_parts(Canvas& canvas, const CatMove& move, std::uint64_t offset) {
    for (const query::PayloadPart& part : move.parts) {
        canvas.paint({offset + part.position, part.place.length, part});
    }
}

}  // namespace

std::vector<CatStretch> plan_file(const std::vector<CatMove>& moves) {
    Canvas canvas;
    std::uint64_t size = 0;
    bool knows_size = false;
    for (const CatMove& move : moves) {
        const std::uint64_t end = move.offset.value_or(0) + move.bytes;
        if (move.offset) {
            if (!move.is_inbound) {
                canvas.paint({*move.offset, move.bytes, std::nullopt});
            }
            paint_parts(canvas, move, *move.offset);
            size = std::max(size, end);
        }
        if (!move.size_after || *move.size_after < end) {  // files of /proc have none
            continue;
        }
        const std::uint64_t now = *move.size_after;
        if (now < size) {
            canvas.paint({now, size - now, std::nullopt});
        } else if (move.is_truncate && knows_size) {
            canvas.paint({size, now - size, std::nullopt, true});
        }
        size = now;
        knows_size = true;
    }
    return canvas.stretches(0, size);
}

std::vector<CatStretch> plan_stream(std::vector<CatMove> moves) {
    const bool has_offsets =
        std::any_of(moves.begin(), moves.end(), [](const CatMove& move) { return move.offset; });
    Canvas canvas;
    std::uint64_t end = 0;
    for (CatMove& move : moves) {
        if (!has_offsets) {
            move.offset = end;
            end += move.bytes;
        }
    }
    // backwards, so that of a byte that is there twice the first is on top
    for (auto move = moves.rbegin(); move != moves.rend(); ++move) {
        if (move->offset) {
            canvas.paint({*move->offset, move->bytes, std::nullopt});
            paint_parts(canvas, *move, *move->offset);
        }
    }
    return canvas.stretches(canvas.begin(), canvas.end());
}

std::vector<CatStretch> part_of(const std::vector<CatStretch>& plan,
                                std::uint64_t from,
                                std::uint64_t to) {
    if (plan.empty() || from >= to) {
        return {};
    }
    Canvas canvas;
    for (const CatStretch& stretch : plan) {
        canvas.paint(stretch);
    }
    const std::uint64_t begin = plan.front().begin, bytes = canvas.end() - begin;
    return canvas.stretches(begin + std::min(from, bytes), begin + std::min(to, bytes));
}

}  // namespace dyetrace::reports
