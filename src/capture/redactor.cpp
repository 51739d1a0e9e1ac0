#include "capture/redactor.h"

#include <algorithm>
#include <utility>

namespace dyetrace::capture {
namespace {

constexpr std::byte kRedacted{'*'};

Payload cut(const Payload& whole, std::size_t from, std::size_t to) {
    Payload part;
    part.cpu = whole.cpu;
    part.sequence = whole.sequence;
    part.position = whole.position + from;
    part.lane = whole.lane;
    part.place = *whole.place + from;
    part.end_ns = whole.end_ns;
    part.bytes.assign(whole.bytes.begin() + static_cast<std::ptrdiff_t>(from),
                      whole.bytes.begin() + static_cast<std::ptrdiff_t>(to));
    return part;
}

}  // namespace

Redactor::Redactor(Secrets secrets, Sink sink, std::size_t held_bytes_max)
    : secrets_(std::move(secrets)),
      sink_(std::move(sink)),
      held_bytes_max_(held_bytes_max),
      reach_(secrets_.match_bytes_max() - 1) {}

void Redactor::take(Payload payload) {
    if (payload.bytes.empty()) {
        return;
    }
    if (secrets_.empty()) {
        sink_(payload);
        return;
    }
    if (!payload.place) {
        give_at_once(std::move(payload));
        return;
    }
    const Window window = window_of(payload);
    find_matches(payload.lane, window);
    settle_neighbours(payload.lane, window);
    split(payload, window);
}

// Those in the window, and those that were found there before.
void Redactor::find_matches(const Lane& lane, const Window& window) {
    matches_.clear();
    auto at = remembered_.upper_bound({lane, window.begin});
    if (at != remembered_.begin() && std::prev(at)->first.first == lane) {
        --at;
    }
    for (; at != remembered_.end() && at->first.first == lane && at->first.second < window.end();
         ++at) {
        if (at->second > window.begin) {
            matches_.emplace_back(at->first.second, at->second);
        }
    }
    for (const auto& [from, to] : secrets_.find(window.bytes)) {
        matches_.emplace_back(window.begin + from, window.begin + to);
        remember(lane, window.begin + from, window.begin + to);
    }
}

// Disjoint ranges: with those that it touches it becomes one.
void Redactor::remember(const Lane& lane, std::uint64_t from, std::uint64_t to) {
    auto at = remembered_.upper_bound({lane, from});
    if (at != remembered_.begin() && std::prev(at)->first.first == lane &&
        std::prev(at)->second >= from) {
        --at;
        if (at->second >= to) {
            return;
        }
        from = at->first.second;
    }
    while (at != remembered_.end() && at->first.first == lane && at->first.second <= to) {
        to = std::max(to, at->second);
        at = remembered_.erase(at);
    }
    remembered_.emplace(Key{lane, from}, to);
    remembered_by_age_.emplace_back(lane, from);
    while (remembered_by_age_.size() > kMatchesMax) {
        remembered_.erase(remembered_by_age_.front());
        remembered_by_age_.pop_front();
    }
}

// Nobody knows what is beside it.
void Redactor::give_at_once(Payload payload) {
    for (const auto& [from, to] : secrets_.find(payload.bytes, {true, true})) {
        std::fill(payload.bytes.begin() + static_cast<std::ptrdiff_t>(from),
                  payload.bytes.begin() + static_cast<std::ptrdiff_t>(to),
                  kRedacted);
        redacted_ += to - from;
    }
    sink_(payload);
}

void Redactor::finish() {
    for (auto first = waiting_.begin(); first != waiting_.end();) {
        first = doubt_run(first);
    }
    for (auto& [key, held] : std::exchange(waiting_, {})) {
        give(std::move(held));
    }
    by_age_.clear();
    waiting_bytes_ = 0;
}

// Does what doubt() does, for all that wait in a row with this one, which are looked at once.
// Returns who follows them.
Redactor::Waiting::iterator Redactor::doubt_run(Waiting::iterator first) {
    const Lane lane = first->first.first;
    const std::uint64_t begin = first->second.begin();
    std::uint64_t end = begin;
    Ends ends;
    auto next = first;
    for (; next != waiting_.end() && next->first.first == lane && next->second.begin() <= end;
         ++next) {
        end = std::max(end, next->second.end());
        ends.open_before |= !next->second.knows_left && begin > 0;
        ends.open_after |= !next->second.knows_right;
    }
    for (const auto& [from, to] : secrets_.find(known(lane, begin, end).bytes, ends)) {
        for (auto at = waiting_.lower_bound(nearest(lane, begin + from));
             at != next && at->second.begin() < begin + to;
             ++at) {
            show(at->second, begin + from, begin + to);
        }
    }
    return next;
}

// What waits is at most as long as the reach, so that nothing that begins before this can touch `place`.
Redactor::Key Redactor::nearest(const Lane& lane, std::uint64_t place) const {
    return {lane, place > reach_ ? place - reach_ : 0};
}

// The window includes what came last beside it, as far as a match may reach and as far as that is known.
Redactor::Window Redactor::window_of(const Payload& payload) const {
    const std::uint64_t begin = *payload.place, end = begin + payload.bytes.size();
    const Known left = known(payload.lane, begin - std::min(begin, reach_), begin);
    const Known right = known(payload.lane, end, end + reach_);
    const auto is_unknown = [](std::uint64_t number) { return number == 0; };
    const auto left_size = std::find_if(left.numbers.rbegin(), left.numbers.rend(), is_unknown) -
                           left.numbers.rbegin();
    const auto right_size = std::find_if(right.numbers.begin(), right.numbers.end(), is_unknown) -
                            right.numbers.begin();
    Window window;
    window.begin = begin - static_cast<std::uint64_t>(left_size);
    window.bytes.reserve(payload.bytes.size() + 2 * reach_);
    window.bytes.assign(left.bytes.end() - left_size, left.bytes.end());
    window.bytes.insert(window.bytes.end(), payload.bytes.begin(), payload.bytes.end());
    window.bytes.insert(window.bytes.end(), right.bytes.begin(), right.bytes.begin() + right_size);
    return window;
}

Redactor::Known Redactor::known(const Lane& lane, std::uint64_t from, std::uint64_t to) const {
    Known known;
    known.bytes.resize(to - from);
    known.numbers.resize(to - from);
    for (auto at = waiting_.lower_bound(nearest(lane, from));
         at != waiting_.end() && at->first.first == lane && at->second.begin() < to;
         ++at) {
        const Held& held = at->second;
        const std::uint64_t last = std::min(to, held.end());
        for (std::uint64_t place = std::max(from, held.begin()); place < last; ++place) {
            if (known.numbers[place - from] < held.number) {
                known.numbers[place - from] = held.number;
                known.bytes[place - from] = held.payload.bytes[place - held.begin()];
            }
        }
    }
    return known;
}

bool Redactor::agrees(const Held& held, const Window& window) const {
    const std::uint64_t from = std::max(held.begin(), window.begin);
    const std::uint64_t to = std::min(held.end(), window.end());
    return from >= to ||
           std::equal(held.payload.bytes.begin() + static_cast<std::ptrdiff_t>(from - held.begin()),
                      held.payload.bytes.begin() + static_cast<std::ptrdiff_t>(to - held.begin()),
                      window.bytes.begin() + static_cast<std::ptrdiff_t>(from - window.begin));
}

void Redactor::learn_sides(Held& held, const Window& window) const {
    held.knows_left = held.knows_left || held.begin() == 0 ||
                      (window.end() >= held.begin() &&
                       window.begin + std::min(reach_, held.begin()) <= held.begin());
    held.knows_right =
        held.knows_right || (window.begin <= held.end() && window.end() >= held.end() + reach_);
}

void Redactor::show(Held& held, std::uint64_t match_from, std::uint64_t match_to) {
    const std::uint64_t from = std::max(match_from, held.begin());
    const std::uint64_t to = std::min(match_to, held.end());
    if (from < to) {
        held.hidden.resize(held.payload.bytes.size());
    }
    for (std::uint64_t place = from; place < to; ++place) {
        held.hidden[place - held.begin()] = true;
    }
}

void Redactor::show_matches(Held& held) const {
    for (const auto& [from, to] : matches_) {
        show(held, from, to);
    }
}

// What could be part of a match that goes on where nobody has looked is hidden.
void Redactor::doubt(Held& held) const {
    const Window window = window_of(held.payload);
    const Ends ends{!held.knows_left && window.begin > 0, !held.knows_right};
    for (const auto& [from, to] : secrets_.find(window.bytes, ends)) {
        show(held, window.begin + from, window.begin + to);
    }
}

// What waits near the new piece learns of it, and goes if it is decided by that or says something else.
void Redactor::settle_neighbours(const Lane& lane, const Window& window) {
    auto at = waiting_.lower_bound(nearest(lane, window.begin));
    while (at != waiting_.end() && at->first.first == lane && at->second.begin() <= window.end()) {
        Held& held = at->second;
        if (held.end() < window.begin) {
            ++at;
            continue;
        }
        const bool is_same = agrees(held, window);
        if (is_same) {
            show_matches(held);
            learn_sides(held, window);
        }
        if (is_same && !(held.knows_left && held.knows_right)) {
            ++at;
            continue;
        }
        if (!is_same) {
            doubt(held);
            doubt_beside(held);
        }
        stop_waiting(held);
        at = waiting_.erase(at);
    }
}

// Both ends of the new piece, which may have to wait, and what lies between.
void Redactor::split(const Payload& payload, const Window& window) {
    const std::size_t size = payload.bytes.size();
    const std::size_t head = std::min<std::size_t>(reach_, size);
    const std::size_t tail = std::max(head, size - head);
    for (const auto& [from, to] :
         {std::pair(std::size_t{0}, head), std::pair(head, tail), std::pair(tail, size)}) {
        if (from == to) {
            continue;
        }
        Held held;
        held.payload = cut(payload, from, to);
        show_matches(held);
        learn_sides(held, window);
        keep_or_give(std::move(held));
    }
}

void Redactor::keep_or_give(Held held) {
    if (held.knows_left && held.knows_right) {
        give(std::move(held));
        return;
    }
    waiting_bytes_ += held_bytes(held.payload);
    if (!join_equal(held)) {
        held.number = ++numbers_;
        const Key key{held.payload.lane, held.begin()};
        const auto at = waiting_.emplace(key, std::move(held));
        by_age_.emplace(at->second.number, at);
    }
    while (waiting_bytes_ > held_bytes_max_) {
        give_oldest();
    }
}

// It shares what is known of the bytes with one that waits at the same place with the same ones.
bool Redactor::join_equal(Held& held) {
    const auto [first, last] = waiting_.equal_range({held.payload.lane, held.begin()});
    const auto equal = std::find_if(first, last, [&](const auto& waiting) {
        return waiting.second.payload.bytes == held.payload.bytes;
    });
    if (equal == last) {
        return false;
    }
    Held& waiting = equal->second;
    waiting.hidden.resize(std::max(waiting.hidden.size(), held.hidden.size()));
    for (std::size_t i = 0; i < held.hidden.size(); ++i) {
        waiting.hidden[i] = waiting.hidden[i] || held.hidden[i];
    }
    waiting.knows_left = waiting.knows_left || held.knows_left;
    waiting.knows_right = waiting.knows_right || held.knows_right;
    held.payload.bytes.clear();
    waiting.also.push_back(std::move(held.payload));
    return true;
}

void Redactor::give(Held held) {
    std::uint64_t hidden = 0;
    for (std::size_t i = 0; i < held.hidden.size(); ++i) {
        if (held.hidden[i]) {
            held.payload.bytes[i] = kRedacted;
            ++hidden;
        }
    }
    redacted_ += hidden * (1 + held.also.size());
    sink_(held.payload);
    for (Payload& also : held.also) {
        also.bytes = held.payload.bytes;
        sink_(also);
    }
}

void Redactor::give_oldest() {
    const auto oldest = by_age_.begin()->second;
    doubt(oldest->second);
    doubt_beside(oldest->second);
    stop_waiting(oldest->second);
    waiting_.erase(oldest);
}

// It goes before it is decided: those beside it can no longer ask what it was.
void Redactor::doubt_beside(const Held& going) {
    const Lane& lane = going.payload.lane;
    for (auto at = waiting_.lower_bound(nearest(lane, nearest(lane, going.begin()).second));
         at != waiting_.end() && at->first.first == lane &&
         at->second.begin() <= going.end() + reach_;
         ++at) {
        Held& beside = at->second;
        for (const auto& [from, to] : secrets_.find(beside.payload.bytes, {true, true})) {
            show(beside, beside.begin() + from, beside.begin() + to);
        }
    }
}

void Redactor::stop_waiting(Held& held) {
    by_age_.erase(held.number);
    waiting_bytes_ -= held_bytes(held.payload) * (1 + held.also.size());
    give(std::move(held));
}

std::size_t Redactor::held_bytes(const Payload& payload) {
    return sizeof(Held) + payload.bytes.size();
}

}  // namespace dyetrace::capture
