// Between which values a curve is, that points keep from above and from below: the offset between two clocks, that messages in both
// directions bound.
//
//   offset  ▲   ×  ×     ×   ×    ×    from messages there: the offset is below         high ─┬─
//           │    ════════════════                                                             │ Range at one instant
//           │  ×    ×   ×    ×   ×     from messages back: the offset is above          low ──┴─
//           └──────────────────────▶ time
//
// Assumed: |slope| <= slope_max, |bend| <= that of the ceilings. Then at an instant m the curve is a + b (t - m), give or take the bend, and each
// point is one linear condition on (a, b): the greatest and the least a of that flat polygon are the range. For m between points of one kind
// that is their hull less the bend; after the last points it is the steepest line between the two
// hulls.
#pragma once

#include <optional>

#include "analysis/clock/ceiling.h"

namespace dyetrace::analysis {

class Corridor {
  public:
    struct Range {
        double low = -Ceiling::kOpen;
        double high = Ceiling::kOpen;
        bool is_torn = false;  // no curve fits all points: the range spans what contradicts

        double middle() const;  // of one that is open to a side: its other end
    };
    struct Line {
        double at = 0, height = 0, slope = 0;
        double value(double t) const { return height + slope * (t - at); }
    };

    Corridor(double slope_max, double bend) : slope_max_(slope_max), above_(bend), below_(bend) {}

    void keep_below(double at, double height) { above_.add(at, height); }
    void keep_above(double at, double height) { below_.add(at, -height); }
    bool is_closed() const { return !above_.empty() && !below_.empty(); }

    Range at(double middle) const;
    // A line that all points allow, as far as it can be from those that are in its way at `middle`; none if the points contradict each other, or
    // are of one kind only.
    std::optional<Line> middle_line(double middle) const;

    const Ceiling& above() const { return above_; }
    const Ceiling& below() const { return below_; }  // heights negated

  private:
    struct Cut {
        Ceiling::Touch top, bottom;  // bottom's height as it is
        double room() const { return top.height - bottom.height; }
    };
    Cut cut(double middle, double slope) const;
    double widest_slope(double middle) const;
    double allowed_slope(double middle, double wanted, double widest) const;

    double slope_max_;
    Ceiling above_, below_;
};

}  // namespace dyetrace::analysis
