// What keeps a curve from above: points that it does not pass, when its bend is bounded.
//
//   height                ×        ×        ×  points: the curve is at or below each
//     ▲      ×      ×   ×    ×  ×
//     │   ×────╮  ╭──×╲    ╱──×             ── the ceiling: only its corners are kept
//     └──────────────────────────▶ at
//
// A curve h with |h''| <= w is below u + w (t - m)² / 2 - b (t - m) at m, for every point (t, u), if its slope at m is b. So h + w t² / 2 is
// convex, and only the corners of the lower convex hull of the points (t, u + w t² / 2) matter, whatever m and b are. The hull is kept
// as points come, mostly from the left to the right; a point costs O(1) amortised if it comes last, else O(log corners) and a move.
//
// Memory: kCornersMax corners of 16 bytes. When there are more, every second one is left out: what the curve is kept from gets
// wider (and stays true) by at most margin().
//
// Numbers are doubles: nanoseconds exactly up to 104 days from the origin.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace dyetrace::analysis {

class Ceiling {
  public:
    static constexpr std::size_t kCornersMax = 4096;  // 64 KB; some hours of dense messages
    static constexpr double kOpen = std::numeric_limits<double>::infinity();

    struct Corner {
        double at = 0;
        double height = 0;
    };
    struct Touch {
        double height = kOpen;  // the greatest that the curve can have at `middle` with that slope
        double at = 0;          // the corner that keeps it from more
    };

    // bend: w, per nanosecond.
    explicit Ceiling(double bend) : bend_(bend) {}

    void add(double at, double height);

    bool empty() const { return corners_.empty(); }
    std::span<const Corner> corners() const { return corners_; }
    double bend() const { return bend_; }
    double margin() const { return margin_; }

    Touch touch(double middle, double slope) const;
    // The slope with which the curve can be highest at `middle`; +-kOpen where only a bound on the slope says.
    double highest_slope(double middle) const;
    // What the nearest corner on each side allows at `middle` when the slope is never beyond `slope_max`: less than touch() far from all.
    double reach(double middle, double slope_max) const;

  private:
    double lifted(const Corner& corner) const {
        return corner.height + bend_ / 2 * corner.at * corner.at;
    }
    double edge_slope(std::size_t left) const;
    double above_chord(const Corner& left, const Corner& between, const Corner& right) const;
    void straighten(std::size_t added);
    void thin();

    double bend_;
    double margin_ = 0;
    std::vector<Corner> corners_;
};

}  // namespace dyetrace::analysis
