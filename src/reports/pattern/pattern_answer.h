// What `dyetrace pattern` found, ready to be shown: one group of accesses per reader or writer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/pattern/pattern.h"

namespace dyetrace::reports {

struct PatternPoint {
    std::uint64_t at_ns = 0;  // since the group's first access
    std::uint32_t file = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::size_t pass = 0;  // by place, from 0
};

// Where the accesses of a pass lie, in the order of time: 0 the first byte of all files, 1 the last.
using PatternSketch = std::vector<double>;

struct PatternGroup {
    std::string access;  // read, write
    std::string who;     // "python3[4711]", "4 processes"
    std::uint64_t processes = 0, threads = 0, files = 0;
    std::uint64_t uncertain = 0;  // accesses whose offset an overlapping call may have moved

    analysis::Pattern pattern;  // without what was kept of the accesses: that is drawn below
    std::vector<PatternSketch> by_place, by_content;  // one per pass, of the first ones
    std::vector<PatternPoint> points;
};

struct PatternAnswer {
    static constexpr std::size_t kPointsMax = 20'000;  // of a group: more than a screen has places
    static constexpr std::size_t kSketchPoints =
        36;  // columns of a terminal of 80, beside the words
    static constexpr std::size_t kSketchesMax = 64;  // passes of a group

    std::string trace, path;
    std::string by;  // process, thread; empty: all together
    std::vector<std::string> files;
    std::vector<PatternGroup> groups;  // the one with most accesses first
    std::uint64_t groups_left_out = 0;
    std::uint64_t mappings = 0;  // calls of mmap on these files
};

// Takes the pattern apart: what is drawn stays, the accesses go.
PatternGroup drawn(PatternGroup group, analysis::Pattern pattern);

// Words for a terminal of `width` columns.
std::string pattern_text(const PatternAnswer& answer, std::size_t width);

// One object, ended by a line break.
std::string pattern_json(const PatternAnswer& answer);

}  // namespace dyetrace::reports
