#include "analysis/dataflow/extent_map.h"

#include <iterator>
#include <span>

namespace dyetrace::analysis {
namespace {

template <typename Values>
auto at(Values& values, std::size_t index) {
    return values.begin() + static_cast<std::ptrdiff_t>(index);
}

// An extent as numbers: begin, end, its act, how many others, their acts.
constexpr std::size_t kActWords = 6;
constexpr std::size_t kExtentWords = 3 + kActWords;

void append_act(const Act& act, std::vector<std::uint64_t>& words) {
    words.insert(
        words.end(),
        {act.event, act.object, act.offset, act.start_ns, act.end_ns, std::uint64_t{act.certain}});
}

Act act_at(std::span<const std::uint64_t> words) {
    return {words[0], words[1], words[2], words[3], words[4], words[5] != 0};
}

void append_extent(std::uint64_t begin, const Extent& extent, std::vector<std::uint64_t>& words) {
    words.insert(words.end(), {begin, extent.end});
    append_act(extent.act, words);
    words.push_back(extent.others ? extent.others->size() : 0);
    for (std::size_t i = 0; extent.others && i < extent.others->size(); ++i) {
        append_act((*extent.others)[i], words);
    }
}

// Takes its words off the front.
Extent extent_at(std::span<const std::uint64_t>& words) {
    Extent extent{words[1], act_at(words.subspan(2)), nullptr};
    const std::size_t others = words[kExtentWords - 1];
    words = words.subspan(kExtentWords);
    std::vector<Act> acts;
    for (std::size_t i = 0; i < others; ++i) {
        acts.push_back(act_at(words));
        words = words.subspan(kActWords);
    }
    if (!acts.empty()) {
        extent.others = std::make_shared<const std::vector<Act>>(std::move(acts));
    }
    return extent;
}

}  // namespace

ExtentMap::~ExtentMap() {
    erase_leaves(0, leaves_.size());
}

void ExtentMap::bring_back(Leaf& leaf) {
    const std::vector<std::uint64_t> words = pool_.store->take(leaf.ticket);
    if (words.empty()) {
        pool_.forgotten += leaf.count;
    }
    leaf.count = 0;
    for (std::span<const std::uint64_t> left = words; !left.empty();) {
        leaf.begins.push_back(left[0]);
        leaf.extents.push_back(extent_at(left));
    }
    pool_.live += leaf.begins.size();
}

bool ExtentMap::put_away(Leaf& leaf) {
    if (pool_.store == nullptr || leaf.begins.empty()) {
        return false;
    }
    std::vector<std::uint64_t> words;
    for (std::size_t i = 0; i < leaf.begins.size(); ++i) {
        append_extent(leaf.begins[i], leaf.extents[i], words);
    }
    const auto ticket = pool_.store->put(words);
    if (!ticket) {
        return false;
    }
    pool_.live -= leaf.begins.size();
    pool_.put_away += leaf.begins.size();
    leaf.end = leaf.last();
    leaf.count = static_cast<std::uint32_t>(leaf.begins.size());
    leaf.ticket = *ticket;
    leaf.begins = std::vector<std::uint64_t>();  // {} would keep the memory
    leaf.extents = std::vector<Extent>();
    return true;
}

ExtentMap::Place ExtentMap::first_ending_after(std::uint64_t position) {
    const auto next = std::upper_bound(firsts_.begin(), firsts_.end(), position);
    if (next == firsts_.begin()) {
        return {0, 0};
    }
    const auto leaf = static_cast<std::size_t>(next - firsts_.begin()) - 1;
    if (leaves_[leaf].last() <= position) {
        return {leaf + 1, 0};
    }
    const std::vector<std::uint64_t>& begins = reach(leaf).begins;
    auto index = static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), position) -
                                          begins.begin());
    if (index > 0 && leaves_[leaf].extents[index - 1].end > position) {
        --index;
    }
    return index < begins.size() ? Place{leaf, index} : Place{leaf + 1, 0};
}

void ExtentMap::step(Place& place) const {
    if (++place.index >= leaves_[place.leaf].begins.size()) {
        place = {place.leaf + 1, 0};
    }
}

void ExtentMap::erase_leaves(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
        if (leaves_[i].is_away()) {
            pool_.store->drop(leaves_[i].ticket);
        }
        pool_.live -= leaves_[i].begins.size();
    }
    pool_.leaves -= to - from;
    leaves_.erase(at(leaves_, from), at(leaves_, to));
    firsts_.erase(at(firsts_, from), at(firsts_, to));
}

void ExtentMap::split(std::size_t leaf) {
    Leaf& left = leaves_[leaf];
    const std::size_t half = left.begins.size() / 2;
    Leaf right;
    right.reached = left.reached;
    right.begins.assign(at(left.begins, half), left.begins.end());
    right.extents.assign(std::make_move_iterator(at(left.extents, half)),
                         std::make_move_iterator(left.extents.end()));
    left.begins.resize(half);
    left.extents.resize(half);
    firsts_.insert(at(firsts_, leaf + 1), right.begins.front());
    leaves_.insert(at(leaves_, leaf + 1), std::move(right));
    ++pool_.leaves;
}

// The range is free.
void ExtentMap::insert(std::uint64_t begin, Extent extent) {
    const auto next = std::upper_bound(firsts_.begin(), firsts_.end(), begin);
    auto leaf = static_cast<std::size_t>(next - firsts_.begin());
    leaf -= leaf > 0 ? 1 : 0;
    const bool is_last = !leaves_.empty() && begin >= leaves_.back().last();
    if (leaves_.empty() || (is_last && leaves_.back().size() == kLeafExtents)) {
        leaf = leaves_.size();
        leaves_.emplace_back();  // objects grow at their end: a full leaf stays full
        firsts_.push_back(begin);
        ++pool_.leaves;
    } else if (reach(leaf).begins.size() == kLeafExtents) {
        split(leaf);
        leaf += begin >= firsts_[leaf + 1] ? 1 : 0;
    }
    Leaf& into = reach(leaf);
    const auto index = static_cast<std::size_t>(
        std::upper_bound(into.begins.begin(), into.begins.end(), begin) - into.begins.begin());
    into.begins.insert(at(into.begins, index), begin);
    into.extents.insert(at(into.extents, index), std::move(extent));
    firsts_[leaf] = into.begins.front();
    ++pool_.live;
}

void ExtentMap::cut_in(std::size_t leaf, std::size_t index, std::uint64_t end) {
    Leaf& changed = reach(leaf);
    std::size_t last = index;  // one after those that lie inside
    while (last < changed.begins.size() && changed.extents[last].end <= end) {
        ++last;
    }
    if (last < changed.begins.size()) {
        changed.begins[last] = std::max(changed.begins[last], end);
    }
    changed.begins.erase(at(changed.begins, index), at(changed.begins, last));
    changed.extents.erase(at(changed.extents, index), at(changed.extents, last));
    pool_.live -= last - index;
    if (!changed.begins.empty()) {
        firsts_[leaf] = changed.begins.front();
    }
}

// The end of one leaf, whole leaves, which are not looked at, and the head of another one.
void ExtentMap::cut(std::uint64_t begin, std::uint64_t end) {
    Place place = first_ending_after(begin);
    if (place.leaf == leaves_.size()) {
        return;
    }
    if (place.index > 0 || firsts_[place.leaf] < begin) {
        Leaf& leaf = leaves_[place.leaf];
        if (leaf.begins[place.index] < begin) {
            Extent& left = leaf.extents[place.index];
            Extent right = left;
            left.end = begin;
            if (right.end > end) {
                insert(end, std::move(right));
                return;
            }
            ++place.index;
        }
        cut_in(place.leaf, place.index, end);
        ++place.leaf;
    }
    std::size_t last = place.leaf;
    while (last < leaves_.size() && leaves_[last].last() <= end) {
        ++last;
    }
    erase_leaves(place.leaf, last);
    if (place.leaf < leaves_.size() && firsts_[place.leaf] < end) {
        cut_in(place.leaf, 0, end);
    }
}

Extent* ExtentMap::find(std::uint64_t begin, std::uint64_t end) {
    const Place place = first_ending_after(begin);
    if (place.leaf == leaves_.size() || (place.index == 0 && firsts_[place.leaf] != begin)) {
        return nullptr;
    }
    Leaf& leaf = reach(place.leaf);
    const bool is_same = place.index < leaf.begins.size() && leaf.begins[place.index] == begin &&
                         leaf.extents[place.index].end == end;
    return is_same ? &leaf.extents[place.index] : nullptr;
}

void ExtentMap::put(std::uint64_t begin,
                    std::uint64_t end,
                    const Act& act,
                    std::vector<Act> others) {
    cut(begin, end);
    insert(
        begin,
        {end,
         act,
         others.empty() ? nullptr : std::make_shared<const std::vector<Act>>(std::move(others))});
}

void ExtentMap::add_reached(std::vector<std::uint64_t>& reached, bool those_away) const {
    for (const Leaf& leaf : leaves_) {
        if (those_away || !leaf.is_away()) {
            reached.push_back(leaf.reached);
        }
    }
}

// What is to be forgotten is moved after the others, and is erased there.
template <typename Unwanted>
void ExtentMap::forget_if(Unwanted&& is_unwanted) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
        if (is_unwanted(leaves_[i])) {
            pool_.forgotten += leaves_[i].size();
        } else {
            std::swap(leaves_[kept], leaves_[i]);
            std::swap(firsts_[kept], firsts_[i]);
            ++kept;
        }
    }
    erase_leaves(kept, leaves_.size());
}

void ExtentMap::put_away_before(std::uint64_t reached) {
    forget_if(
        [&](Leaf& leaf) { return !leaf.is_away() && leaf.reached < reached && !put_away(leaf); });
}

void ExtentMap::forget_before(std::uint64_t reached) {
    forget_if([&](const Leaf& leaf) { return leaf.reached < reached; });
}

}  // namespace dyetrace::analysis
