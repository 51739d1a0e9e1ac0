#include "analysis/dataflow/frames.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "content/content_sum.h"

namespace dyetrace::analysis {
namespace {

// What is known of the bytes on both sides of a frame, if it lies there.
struct Sides {
    std::optional<std::uint64_t> short_front, short_back, long_front, long_back;  // sums
};

class Places {
  public:
    Places(const Gap& shorter, const Gap& longer)
        : shorter_(shorter), longer_(longer), frame_(longer.size() - shorter.size()) {}

    std::vector<FramePlace> find() {
        std::vector<std::uint64_t> candidates;
        add_borders(shorter_, 0, candidates);
        add_borders(longer_, 0, candidates);
        add_borders(longer_, frame_, candidates);
        std::ranges::sort(candidates);
        candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
        std::vector<FramePlace> places;
        for (const std::uint64_t before : candidates) {
            const Sides sides = sides_of(before);
            if (contradict(sides)) {
                continue;
            }
            const FramePlace place = place_of(before, sides);
            if (place.front_is_same && place.back_is_same) {
                return {place};
            }
            places.push_back(place);
        }
        return places;
    }

  private:
    // Borders of the gap's calls; the frame ends there, of `after` bytes, or begins.
    void add_borders(const Gap& gap,
                     std::uint64_t after,
                     std::vector<std::uint64_t>& candidates) const {
        const auto add = [&](std::uint64_t position) {
            if (position < gap.from.position + after || position > gap.to.position) {
                return;
            }
            const std::uint64_t before = position - gap.from.position - after;
            if (before <= shorter_.size()) {
                candidates.push_back(before);
            }
        };
        for (const SummedStrip::Call& call : gap.strip->calls) {
            add(call.begin.position);
        }
        add(gap.strip->end.position);
    }

    // How many calls meet between the anchors, but for that place.
    static std::size_t borders_in(const Gap& gap, std::uint64_t but_for) {
        std::size_t borders = 0;
        const auto count = [&](std::uint64_t position) {
            borders +=
                position >= gap.from.position && position <= gap.to.position && position != but_for
                    ? 1
                    : 0;
        };
        for (const SummedStrip::Call& call : gap.strip->calls) {
            count(call.begin.position);
        }
        count(gap.strip->end.position);
        return borders;
    }
    static std::optional<std::uint64_t> front(const Gap& gap, std::uint64_t bytes) {
        const auto border =
            bytes == 0 ? std::optional(gap.from) : gap.strip->border_at(gap.from.position + bytes);
        return border ? std::optional(sum_between(gap.from, *border)) : std::nullopt;
    }
    static std::optional<std::uint64_t> back(const Gap& gap, std::uint64_t bytes) {
        const auto border =
            bytes == 0 ? std::optional(gap.to) : gap.strip->border_at(gap.to.position - bytes);
        return border ? std::optional(sum_between(*border, gap.to)) : std::nullopt;
    }
    Sides sides_of(std::uint64_t before) const {
        const std::uint64_t after = shorter_.size() - before;
        return {front(shorter_, before),
                back(shorter_, after),
                front(longer_, before),
                back(longer_, after)};
    }
    static bool contradict(const Sides& sides) {
        const auto differ = [](const auto& a, const auto& b) { return a && b && *a != *b; };
        return differ(sides.short_front, sides.long_front) ||
               differ(sides.short_back, sides.long_back);
    }

    FramePlace place_of(std::uint64_t before, const Sides& sides) const {
        const std::uint64_t after = shorter_.size() - before;
        const std::uint64_t all = sum_between(shorter_.from, shorter_.to);
        FramePlace place{.before = before,
                         .front_is_same = before == 0 || (sides.short_front && sides.long_front),
                         .back_is_same = after == 0 || (sides.short_back && sides.long_back),
                         .front_without = std::nullopt,
                         .front_with = std::nullopt};
        const bool meets_frame = ends_in_frame(before, sides);
        place.front_is_same = place.front_is_same || meets_frame;
        if (borders_in(shorter_, SIZE_MAX) == 1 &&
            shorter_.strip->border_at(shorter_.from.position + before)) {
            place.front_without = sides.short_front;
        }
        if (borders_in(longer_, longer_.to.position - after) == 1) {
            place.front_with = meets_frame ? sides.short_front
                               : longer_.strip->border_at(longer_.from.position + before)
                                   ? sides.long_front
                                   : std::nullopt;
        }
        if (sides.long_front && sides.long_back) {
            place.front_is_same = place.back_is_same =
                content::joined_sum(*sides.long_front, *sides.long_back, after) == all;
        } else if (frame_ <= kTinyFrame) {
            place.front_is_same = place.back_is_same = is_tiny_frame(before, sides, all);
        }
        return place;
    }
    // Whether a call of the longer gap ends some bytes after the frame begins, as one with a short trailer, and has what stands before it and a number of so few bytes.
    bool ends_in_frame(std::uint64_t before, const Sides& sides) const {
        for (std::uint64_t bytes = 1; sides.short_front && bytes <= std::min(kTinyFrame, frame_);
             ++bytes) {
            const auto border = longer_.strip->border_at(longer_.from.position + before + bytes);
            if (border && content::may_be_sum_of(
                              content::sum_of_rest(
                                  sum_between(longer_.from, *border), *sides.short_front, bytes),
                              bytes)) {
                return true;
            }
        }
        return false;
    }
    // Whether what is left of the longer gap is a number of so few bytes.
    bool is_tiny_frame(std::uint64_t before, const Sides& sides, std::uint64_t all) const {
        const std::uint64_t after = shorter_.size() - before;
        const auto front = sides.short_front ? sides.short_front : sides.long_front;
        const auto known_back = sides.short_back ? sides.short_back : sides.long_back;
        if (!front) {
            return false;
        }
        const std::uint64_t back = known_back.value_or(content::sum_of_rest(all, *front, after));
        // front·frame·back, less front and back, is the frame with `after` bytes of zeros after it
        const std::uint64_t whole = sum_between(longer_.from, longer_.to);
        const std::uint64_t rest = content::sum_of_rest(whole, *front, frame_ + after);
        return content::may_be_sum_of(content::sum_of_front(rest, back, after), frame_);
    }

    const Gap& shorter_;
    const Gap& longer_;
    const std::uint64_t frame_;
};

}  // namespace

std::vector<FramePlace> frame_places(const Gap& shorter, const Gap& longer) {
    return Places(shorter, longer).find();
}

std::size_t FrameGuesses::KeyHash::operator()(const Key& key) const {
    constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio
    std::uint64_t mixed = 0;
    for (const std::uint64_t part :
         {key.from, key.to, key.short_bytes, key.long_bytes, key.long_sum}) {
        mixed = (mixed ^ part) * kMix;
        mixed ^= mixed >> 29;
    }
    return static_cast<std::size_t>(mixed);
}

bool FrameGuesses::Guess::is_confirmed() const {
    return std::ranges::any_of(voices, [&](const Voice& one) {
        return one.front_without && std::ranges::any_of(voices, [&](const Voice& other) {
                   return other.strip != one.strip && other.front_with == one.front_without;
               });
    });
}

void FrameGuesses::tell(Guess& guess, schema::Certainty certainty, std::vector<Flow>& flows) {
    for (Flow& flow : guess.flows) {
        flow.certainty = certainty;
        flows.push_back(flow);
    }
    guess.flows.clear();
}

void FrameGuesses::guess(const Key& key,
                         std::uint64_t strip,
                         const FramePlace& place,
                         const std::vector<Flow>& flows,
                         std::vector<Flow>& confirmed) {
    const auto [found, is_new] = guesses_.try_emplace(key);
    Guesses& gap = found->second;
    if (is_new) {
        order_.push_back(key);
    }
    if (gap.before) {
        if (*gap.before == place.before) {
            confirmed.insert(confirmed.end(), flows.begin(), flows.end());
        }
        return;
    }
    auto known = std::ranges::find(
        gap.guesses, place.before, [](const Guess& one) { return one.place.before; });
    if (known == gap.guesses.end()) {
        gap.guesses.push_back({place, {}, {}});
        known = std::prev(gap.guesses.end());
    }
    if (known->voices.size() < kVoicesMax) {
        known->voices.push_back({strip, place.front_without, place.front_with});
    }
    if (known->flows.size() + flows.size() <= kGuessFlowsMax) {
        known->flows.insert(known->flows.end(), flows.begin(), flows.end());
    }
    if (known->is_confirmed()) {
        tell(*known, schema::Certainty::kLikely, confirmed);
        gap.before = place.before;
        gap.guesses = {};
    }
    if (order_.size() > kGuessesMax) {
        give_up_oldest(confirmed);
    }
}

void FrameGuesses::give_up_oldest(std::vector<Flow>& flows) {
    const auto oldest = guesses_.find(order_.front());
    order_.pop_front();
    for (Guess& guess : oldest->second.guesses) {
        if (guess.place.front_is_same || guess.place.back_is_same) {
            tell(guess, schema::Certainty::kPossible, flows);
        }
    }
    guesses_.erase(oldest);
}

void FrameGuesses::give_up(std::vector<Flow>& flows) {
    while (!order_.empty()) {
        give_up_oldest(flows);
    }
}

}  // namespace dyetrace::analysis
