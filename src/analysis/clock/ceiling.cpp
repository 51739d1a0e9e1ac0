#include "analysis/clock/ceiling.h"

#include <algorithm>

namespace dyetrace::analysis {

// Computes the slope from the lifted corners, which avoids the difference of two large squares.
double Ceiling::edge_slope(std::size_t left) const {
    const Corner& a = corners_[left];
    const Corner& b = corners_[left + 1];
    return (b.height - a.height) / (b.at - a.at) + bend_ / 2 * (a.at + b.at);
}

// How far the lifted middle is above the straight line between the others.
double Ceiling::above_chord(const Corner& left, const Corner& between, const Corner& right) const {
    const double before = between.at - left.at, after = right.at - between.at;
    const double chord = (left.height * after + right.height * before) / (before + after);
    return between.height - chord - bend_ / 2 * before * after;
}

void Ceiling::add(double at, double height) {
    const Corner added{at, height};
    const auto place = std::lower_bound(
        corners_.begin(), corners_.end(), at, [](const Corner& corner, double value) {
            return corner.at < value;
        });
    const std::size_t index = static_cast<std::size_t>(place - corners_.begin());
    if (place != corners_.end() && place->at == at) {
        if (place->height <= height) {
            return;
        }
        place->height = height;
    } else {
        if (place != corners_.begin() && place != corners_.end() &&
            above_chord(place[-1], added, *place) >= 0) {
            return;
        }
        corners_.insert(place, added);
    }
    straighten(index);
    if (corners_.size() > kCornersMax) {
        thin();
    }
}

// Neighbours of a new corner that are none any more.
void Ceiling::straighten(std::size_t added) {
    std::size_t end = added + 1;
    while (end + 1 < corners_.size() &&
           above_chord(corners_[added], corners_[end], corners_[end + 1]) >= 0) {
        ++end;
    }
    corners_.erase(corners_.begin() + static_cast<std::ptrdiff_t>(added) + 1,
                   corners_.begin() + static_cast<std::ptrdiff_t>(end));
    std::size_t begin = added;
    while (begin >= 2 &&
           above_chord(corners_[begin - 2], corners_[begin - 1], corners_[added]) >= 0) {
        --begin;
    }
    corners_.erase(corners_.begin() + static_cast<std::ptrdiff_t>(begin),
                   corners_.begin() + static_cast<std::ptrdiff_t>(added));
}

void Ceiling::thin() {
    std::size_t kept = 1;
    double deepest = 0;
    for (std::size_t i = 1; i + 1 < corners_.size(); ++i) {
        if (i % 2 == 0) {
            corners_[kept++] = corners_[i];
        } else {
            deepest =
                std::max(deepest, -above_chord(corners_[i - 1], corners_[i], corners_[i + 1]));
        }
    }
    corners_[kept++] = corners_.back();
    corners_.resize(kept);
    margin_ += deepest;
}

Ceiling::Touch Ceiling::touch(double middle, double slope) const {
    if (corners_.empty()) {
        return {};
    }
    const double sought = slope + bend_ * middle;
    std::size_t low = 0,
                high = corners_.size() - 1;  // the first corner after which the edge is steeper
    while (low < high) {
        const std::size_t half = (low + high) / 2;
        if (edge_slope(half) >= sought) {
            high = half;
        } else {
            low = half + 1;
        }
    }
    const Corner& corner = corners_[low];
    const double apart = corner.at - middle;
    return {.height = corner.height + bend_ / 2 * apart * apart - slope * apart, .at = corner.at};
}

double Ceiling::highest_slope(double middle) const {
    if (corners_.empty() || middle >= corners_.back().at) {
        return kOpen;
    }
    if (middle <= corners_[0].at) {
        return -kOpen;
    }
    const auto right = std::upper_bound(
        corners_.begin(), corners_.end(), middle, [](double value, const Corner& corner) {
            return value < corner.at;
        });
    return edge_slope(static_cast<std::size_t>(right - corners_.begin()) - 1) - bend_ * middle;
}

double Ceiling::reach(double middle, double slope_max) const {
    const auto begin = corners_.begin(), end = corners_.end();
    const auto right = std::upper_bound(
        begin, end, middle, [](double value, const Corner& corner) { return value < corner.at; });
    double least = kOpen;
    if (right != end) {
        least = right->height + slope_max * (right->at - middle);
    }
    if (right != begin) {
        least = std::min(least, right[-1].height + slope_max * (middle - right[-1].at));
    }
    return least;
}

}  // namespace dyetrace::analysis
