#include "analysis/dataflow/extent_map.h"

#include <iterator>

namespace dyetrace::analysis {
namespace {

template <typename Values>
auto at(Values& values, std::size_t index) {
    return values.begin() + static_cast<std::ptrdiff_t>(index);
}

}  // namespace

ExtentMap::~ExtentMap() {
    for (const Leaf& leaf : leaves_) {
        pool_.live -= leaf.begins.size();
    }
}

ExtentMap::Place ExtentMap::first_behind(std::uint64_t position) const {
    const auto next = std::upper_bound(firsts_.begin(), firsts_.end(), position);
    if (next == firsts_.begin()) {
        return {0, 0};
    }
    const auto leaf = static_cast<std::size_t>(next - firsts_.begin()) - 1;
    const std::vector<std::uint64_t>& begins = leaves_[leaf].begins;
    auto index = static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), position) -
                                          begins.begin());
    if (index > 0 && leaves_[leaf].extents[index - 1].end > position) {
        --index;
    }
    return index < begins.size() ? Place{leaf, index} : Place{leaf + 1, 0};
}

void ExtentMap::step(Place& place) const {
    if (++place.index == leaves_[place.leaf].begins.size()) {
        place = {place.leaf + 1, 0};
    }
}

void ExtentMap::erase(std::size_t leaf, std::size_t from, std::size_t to) {
    Leaf& changed = leaves_[leaf];
    changed.begins.erase(at(changed.begins, from), at(changed.begins, to));
    changed.extents.erase(at(changed.extents, from), at(changed.extents, to));
    pool_.live -= to - from;
    if (changed.begins.empty()) {
        leaves_.erase(at(leaves_, leaf));
        firsts_.erase(at(firsts_, leaf));
    } else {
        firsts_[leaf] = changed.begins.front();
    }
}

void ExtentMap::split(std::size_t leaf) {
    Leaf& left = leaves_[leaf];
    const std::size_t half = left.begins.size() / 2;
    Leaf right;
    right.begins.assign(at(left.begins, half), left.begins.end());
    right.extents.assign(std::make_move_iterator(at(left.extents, half)),
                         std::make_move_iterator(left.extents.end()));
    left.begins.resize(half);
    left.extents.resize(half);
    firsts_.insert(at(firsts_, leaf + 1), right.begins.front());
    leaves_.insert(at(leaves_, leaf + 1), std::move(right));
}

// The range is free.
void ExtentMap::insert(std::uint64_t begin, Extent extent) {
    const auto next = std::upper_bound(firsts_.begin(), firsts_.end(), begin);
    auto leaf = static_cast<std::size_t>(next - firsts_.begin());
    leaf -= leaf > 0 ? 1 : 0;
    const bool is_last = !leaves_.empty() && begin > leaves_.back().begins.back();
    if (leaves_.empty() || (is_last && leaves_.back().begins.size() == kLeafExtents)) {
        leaf = leaves_.size();
        leaves_.emplace_back();  // objects grow at their end: a full leaf stays full
        firsts_.push_back(begin);
    } else if (leaves_[leaf].begins.size() == kLeafExtents) {
        split(leaf);
        leaf += begin >= firsts_[leaf + 1] ? 1 : 0;
    }
    Leaf& into = leaves_[leaf];
    const auto index = static_cast<std::size_t>(
        std::upper_bound(into.begins.begin(), into.begins.end(), begin) - into.begins.begin());
    into.begins.insert(at(into.begins, index), begin);
    into.extents.insert(at(into.extents, index), std::move(extent));
    firsts_[leaf] = into.begins.front();
    ++pool_.live;
}

void ExtentMap::cut(std::uint64_t begin, std::uint64_t end) {
    Place place = first_behind(begin);
    if (place.leaf == leaves_.size()) {
        return;
    }
    if (const std::uint64_t first = leaves_[place.leaf].begins[place.index]; first < begin) {
        Extent& left = leaves_[place.leaf].extents[place.index];
        Extent right = left;
        left.end = begin;
        if (right.end > end) {
            insert(end, std::move(right));
            return;
        }
        step(place);
    }
    while (place.leaf < leaves_.size()) {
        Leaf& leaf = leaves_[place.leaf];
        std::size_t last = place.index;  // behind those that lie inside
        while (last < leaf.begins.size() && leaf.extents[last].end <= end) {
            ++last;
        }
        const bool goes_on = last == leaf.begins.size();
        if (!goes_on && leaf.begins[last] < end) {
            leaf.begins[last] = end;
            firsts_[place.leaf] = leaf.begins.front();
        }
        const bool is_whole = place.index == 0 && goes_on;
        if (last > place.index) {
            erase(place.leaf, place.index, last);
        }
        if (!goes_on) {
            return;
        }
        place = {is_whole ? place.leaf : place.leaf + 1, 0};
    }
}

Extent* ExtentMap::find(std::uint64_t begin, std::uint64_t end) {
    const Place place = first_behind(begin);
    if (place.leaf == leaves_.size()) {
        return nullptr;
    }
    Leaf& leaf = leaves_[place.leaf];
    const bool is_same = leaf.begins[place.index] == begin && leaf.extents[place.index].end == end;
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

void ExtentMap::add_ends(std::vector<std::uint64_t>& ends_ns) const {
    for (const Leaf& leaf : leaves_) {
        for (const Extent& extent : leaf.extents) {
            ends_ns.push_back(extent.act.end_ns);
        }
    }
}

void ExtentMap::forget_before(std::uint64_t end_ns) {
    std::vector<Leaf> kept;
    std::vector<std::uint64_t> firsts;
    for (Leaf& leaf : leaves_) {
        Leaf left;
        for (std::size_t i = 0; i < leaf.begins.size(); ++i) {
            if (leaf.extents[i].act.end_ns >= end_ns) {
                left.begins.push_back(leaf.begins[i]);
                left.extents.push_back(std::move(leaf.extents[i]));
            }
        }
        pool_.live -= leaf.begins.size() - left.begins.size();
        if (!left.begins.empty()) {
            firsts.push_back(left.begins.front());
            kept.push_back(std::move(left));
        }
    }
    leaves_ = std::move(kept);
    firsts_ = std::move(firsts);
}

}  // namespace dyetrace::analysis
