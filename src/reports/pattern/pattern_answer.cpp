#include "reports/pattern/pattern_answer.h"

#include <algorithm>
#include <span>
#include <utility>

namespace dyetrace::reports {
namespace {

using analysis::Access;

std::vector<PatternSketch> sketches(const analysis::Passes& passes,
                                    std::span<const Access> accesses,
                                    const analysis::FileLayout& extent) {
    std::vector<PatternSketch> out;
    for (const analysis::Pass& pass : passes.passes) {
        if (out.size() == PatternAnswer::kSketchesMax) {
            break;
        }
        const std::size_t columns = std::min(pass.accesses, PatternAnswer::kSketchPoints);
        PatternSketch& sketch = out.emplace_back();
        for (std::size_t column = 0; column < columns; ++column) {
            const std::size_t number = pass.first + column * pass.accesses / columns;
            sketch.push_back(extent.fraction(accesses[number]));
        }
    }
    return out;
}

std::vector<PatternPoint> points(const analysis::Pattern& pattern) {
    std::vector<PatternPoint> out;
    const std::size_t all = pattern.kept.size();
    const std::size_t count = std::min(all, PatternAnswer::kPointsMax);
    std::size_t pass = 0;
    const auto& passes = pattern.by_place.passes;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t number = i * all / count;
        while (pass + 1 < passes.size() && passes[pass + 1].first <= number) {
            ++pass;
        }
        const Access& access = pattern.kept[number];
        out.push_back(
            {access.start_ns - pattern.begin_ns, access.file, access.offset, access.bytes, pass});
    }
    return out;
}

}  // namespace

PatternGroup drawn(PatternGroup group, analysis::Pattern pattern) {
    group.points = points(pattern);
    group.by_place = sketches(pattern.by_place, pattern.kept, pattern.extent);
    if (pattern.by_content) {
        const std::vector<Access> known = std::exchange(pattern.by_content->accesses, {});
        group.by_content =
            sketches(pattern.by_content->passes, known, analysis::FileLayout({}, known));
    }
    pattern.kept = {};
    group.pattern = std::move(pattern);
    return group;
}

}  // namespace dyetrace::reports
