// The peer: the fully incremental convex hull of Jabbarifar, Dagenais and Shameli-Sendi ("Streaming Mode Incremental Clock Synchronization"), as Trace Compass
// has it (SyncAlgorithmFullyIncremental), for one pair of hosts. Written anew from its description, with integers that do not overflow.
//
//   y  ▲        ×  ×  above: sent by the reference     The steepest and the flattest line between the two hulls; the clock is
//      │      ╱╱                                       taken to be their bisector. One line for the whole trace.
//      │    ╱╱  ×  ×  below: received by it
//      └───────────▶ x: clock of the reference
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace dyetrace::simulation {

class IncrementalHull {
  public:
    struct Bounds {
        double low = 0, high = 0;
        double middle() const { return (low + high) / 2; }
    };

    void add_above(std::int64_t x, std::int64_t y) {
        add({x, y}, above_, below_, steepest_, flattest_, -1);
    }
    void add_below(std::int64_t x, std::int64_t y) {
        add({x, y}, below_, above_, flattest_, steepest_, 1);
    }

    // y - x between the two lines; none before both are there. When the lines cross, the last good ones stay.
    std::optional<Bounds> at(std::int64_t x) const {
        if (!has_lines_) {
            return std::nullopt;
        }
        const double a = value(good_steepest_, x), b = value(good_flattest_, x);
        return Bounds{std::min(a, b), std::max(a, b)};
    }
    bool has_failed() const { return has_failed_; }

  private:
    struct Point {
        std::int64_t x = 0, y = 0;
        friend bool operator==(const Point&, const Point&) = default;
    };
    struct Line {
        std::optional<Point> begin, end;
    };
    using Wide = __int128;

    // Greater than 0: p, a, b turn left.
    static int turn(const Point& p, const Point& a, const Point& b) {
        const Wide cross = Wide{a.x - p.x} * (b.y - p.y) - Wide{a.y - p.y} * (b.x - p.x);
        return cross > 0 ? 1 : cross < 0 ? -1 : 0;
    }
    static double gain(const Line& line) {
        const auto dx = static_cast<double>(line.end->x - line.begin->x);
        return static_cast<double>((line.end->y - line.end->x) - (line.begin->y - line.begin->x)) /
               dx;
    }
    static double value(const Line& line, std::int64_t x) {
        return static_cast<double>(line.end->y - line.end->x) +
               gain(line) * static_cast<double>(x - line.end->x);
    }

    void add(const Point& p,
             std::vector<Point>& own,
             std::vector<Point>& other,
             Line& line,
             Line& other_line,
             int side) {
        const bool counts = !line.begin.has_value() || !line.end.has_value() ||
                            turn(p, *line.begin, *line.end) * side > 0;
        if (counts) {
            while (own.size() >= 2 && turn(p, own[own.size() - 2], own.back()) * side > 0) {
                own.pop_back();
            }
            own.push_back(p);
            line.end = p;
        }
        adjust(line, other, side);
        if (other_line.end.has_value() &&
            (!other_line.begin.has_value() ||
             std::find(own.begin(), own.end(), *other_line.begin) == own.end())) {
            adjust(other_line, own, -side);
        }
        if (counts) {
            keep_good();
        }
    }

    // The beginning of the line: the point of the other hull around which it turns least.
    static void adjust(Line& line, const std::vector<Point>& hull, int side) {
        if (!line.end.has_value()) {
            return;
        }
        const auto known =
            line.begin.has_value() ? std::find(hull.begin(), hull.end(), *line.begin) : hull.end();
        std::size_t i = known == hull.end() ? 0 : static_cast<std::size_t>(known - hull.begin());
        std::optional<Point> least;
        for (bool found = false; !found && i + 1 < hull.size();) {
            least = hull[i];
            if (turn(hull[i], hull[i + 1], *line.end) * side <= 0) {
                line.begin = hull[i];
                found = true;
            } else if (hull[i + 1].x < line.end->x) {
                ++i;
            } else {
                line.begin.reset();
                found = true;
            }
        }
        if (!line.begin.has_value()) {
            line.begin = least;
        }
        if (line.begin.has_value() && line.begin->x >= line.end->x) {
            line.begin.reset();
        }
    }

    void keep_good() {
        if (has_failed_ || !steepest_.begin || !steepest_.end || !flattest_.begin ||
            !flattest_.end) {
            return;
        }
        if (gain(steepest_) <= gain(flattest_)) {
            has_failed_ = true;
            return;
        }
        has_lines_ = true;
        good_steepest_ = steepest_;
        good_flattest_ = flattest_;
    }

    std::vector<Point> above_, below_;
    Line steepest_, flattest_, good_steepest_, good_flattest_;
    bool has_lines_ = false;
    bool has_failed_ = false;
};

}  // namespace dyetrace::simulation
