#include "capture/dye_borders.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "content/content_sum.h"

namespace dyetrace::capture {
namespace {

std::string last_of(std::string text, std::size_t bytes) {
    if (text.size() > bytes) {
        text.erase(0, text.size() - bytes);
    }
    return text;
}

// The sum of the first bytes of a piece, which are the last ones of an anchor that began in front of it.
std::uint64_t sum_of_first(const DyePiece& piece, std::size_t bytes) {
    return content::content_sum(base::bytes_of(piece.first).first(bytes));
}

// Whether it is the first time, on whichever object.
bool is_new(const DyeCrossing& crossing, DyesTold& told) {
    const bool known = std::any_of(told.begin(), told.end(), [&](DyeCrossing one) {
        one.second = crossing.second;
        return one == crossing;
    });
    if (!known) {
        told.push_back(crossing);
    }
    return !known;
}

// Calls hit(found) for what begins before one of the borders and ends after it.
template <typename Hit>
void find_over(const DyeTable& table,
               const std::string& bytes,
               std::initializer_list<std::size_t> borders,
               Hit&& hit) {
    const auto take = [&](const DyeFound& found) {
        const bool crosses = std::any_of(borders.begin(), borders.end(), [&](std::size_t border) {
            return found.begin < border && border < found.end;
        });
        if (crosses) {
            hit(found);
        }
    };
    table.find(base::bytes_of(bytes), [&](const DyePattern& pattern, std::size_t begin) {
        take({.what = {.dye = pattern.dye, .form = pattern.form},
              .begin = begin,
              .end = begin + pattern.text.size()});
    });
    if (table.anchors()) {
        for (const content::AnchorWindow& one : table.anchors()->find(base::bytes_of(bytes))) {
            take({.what = {.anchor = one.fingerprint},
                  .begin = one.position,
                  .end = one.position + ANCHOR_WINDOW});
        }
    }
}

}  // namespace

void DyeBorders::join(const DyeTable& table, DyePiece piece, std::vector<DyeCrossing>& found) {
    if (piece.position) {
        join_range(table, std::move(piece), found);
    } else {
        join_order(table, piece, found);
    }
}

void DyeBorders::join_order(const DyeTable& table,
                            const DyePiece& piece,
                            std::vector<DyeCrossing>& found) {
    if (orders_.size() >= orders_max_) {
        forgotten_ += orders_.size();
        orders_.clear();
    }
    std::string& before = orders_[key_of(piece.object_id, piece.inbound)];
    const std::size_t border = before.size();
    before += piece.first;
    find_over(table, before, {border}, [&](const DyeFound& one) {
        DyeCrossing crossing = one.what;
        crossing.cpu = piece.cpu;
        crossing.sequence = piece.sequence;
        crossing.second = piece.second;
        crossing.position =
            static_cast<std::int64_t>(one.begin) - static_cast<std::int64_t>(border);
        if (one.what.anchor != 0) {
            crossing.prefix_sum = sum_of_first(piece, one.end - border);
        }
        if (!piece.told || is_new(crossing, *piece.told)) {
            found.push_back(crossing);
        }
    });
    if (!piece.whole) {
        before = piece.last;
    }
    before = last_of(std::move(before), table.edge_bytes());
}

void DyeBorders::erase(Key key, std::uint64_t from, std::uint64_t to) {
    const auto found = ranges_.find(key);
    if (found == ranges_.end()) {
        return;
    }
    Range& range = found->second;
    auto piece = range.lower_bound(from);
    if (piece != range.begin() && std::prev(piece)->second.end() > from) {
        --piece;
    }
    while (piece != range.end() && piece->first < to) {
        ages_.erase(piece->second.age);
        piece = range.erase(piece);
    }
    if (range.empty()) {
        ranges_.erase(found);
    }
}

void DyeBorders::forget_oldest() {
    const Place oldest = ages_.front();
    const Kept& piece = ranges_.at(oldest.key).at(oldest.position);
    const bool met_all = (piece.met_left || oldest.position == 0) && piece.met_right;
    forgotten_ += met_all ? 0 : 1;
    erase(oldest.key, oldest.position, oldest.position + 1);
}

void DyeBorders::forget(std::uint32_t object_id,
                        std::optional<std::uint64_t> position,
                        std::uint64_t length) {
    for (const bool inbound : {false, true}) {
        const Key key = key_of(object_id, inbound);
        if (position) {
            erase(key, *position, *position + length);
        } else {
            orders_.erase(key);
        }
    }
}

void DyeBorders::join_range(const DyeTable& table,
                            DyePiece piece,
                            std::vector<DyeCrossing>& found) {
    const Key key = key_of(piece.object_id, piece.inbound);
    const std::uint64_t position = *piece.position;
    erase(key, position, position + piece.length);
    if (ages_.size() >= pieces_max_) {
        forget_oldest();
    }
    Range& range = ranges_[key];
    const auto age = ages_.insert(ages_.end(), {key, position});
    const auto kept = range.emplace(position, Kept{std::move(piece), age}).first;
    search(table, range, kept, found);
}

std::string DyeBorders::bytes_before(const Range& range,
                                     Range::const_iterator piece,
                                     std::size_t bytes) {
    std::string before;
    while (piece != range.begin() && before.size() < bytes) {
        const Kept& left = std::prev(piece)->second;
        if (left.end() != piece->first) {
            break;
        }
        before.insert(0, left.piece.whole ? left.piece.first : left.piece.last);
        if (!left.piece.whole) {
            break;
        }
        --piece;
    }
    return last_of(std::move(before), bytes);
}

std::string DyeBorders::bytes_after(const Range& range,
                                    Range::const_iterator piece,
                                    std::size_t bytes) {
    std::string after;
    while (after.size() < bytes) {
        const std::uint64_t end = piece->second.end();
        ++piece;
        if (piece == range.end() || piece->first != end) {
            break;
        }
        after += piece->second.piece.first;
        if (!piece->second.piece.whole) {
            break;
        }
    }
    after.resize(std::min(after.size(), bytes));
    return after;
}

// The event in which it ends is told; once, however often the bytes in front of it come again.
void DyeBorders::tell(Range& range,
                      const DyeFound& one,
                      std::uint64_t position,
                      std::vector<DyeCrossing>& found) {
    const auto in = std::prev(range.upper_bound(position + one.end - 1));
    DyePiece& event = in->second.piece;
    DyeCrossing crossing = one.what;
    crossing.cpu = event.cpu;
    crossing.sequence = event.sequence;
    crossing.second = event.second;
    crossing.position = static_cast<std::int64_t>(position + one.begin - in->first);
    if (one.what.anchor != 0) {
        crossing.prefix_sum = sum_of_first(event, position + one.end - in->first);
    }
    if (!event.told) {
        event.told = std::make_shared<DyesTold>();
    }
    if (is_new(crossing, *event.told)) {
        found.push_back(crossing);
    }
}

void DyeBorders::search(const DyeTable& table,
                        Range& range,
                        Range::iterator piece,
                        std::vector<DyeCrossing>& found) {
    const DyePiece& own = piece->second.piece;
    const std::string before = bytes_before(range, piece, table.edge_bytes());
    const std::string after = bytes_after(range, piece, table.edge_bytes());
    if (!before.empty()) {
        piece->second.met_left = std::prev(piece)->second.met_right = true;
    }
    if (!after.empty()) {
        piece->second.met_right = std::next(piece)->second.met_left = true;
    }
    const auto look_over = [&](const std::string& bytes,
                               std::uint64_t position,
                               std::initializer_list<std::size_t> borders) {
        find_over(
            table, bytes, borders, [&](const DyeFound& one) { tell(range, one, position, found); });
    };
    const std::uint64_t from = piece->first - before.size();
    if (own.whole) {
        look_over(
            before + own.first + after, from, {before.size(), before.size() + own.first.size()});
        return;
    }
    look_over(before + own.first, from, {before.size()});
    look_over(own.last + after, piece->second.end() - own.last.size(), {own.last.size()});
}

}  // namespace dyetrace::capture
