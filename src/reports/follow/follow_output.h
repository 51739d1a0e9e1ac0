// A trail in words: as a tree for a terminal, as JSON, as a graph for Graphviz.
//
//   /tmp/a · where its bytes went
//   cat[812] read /tmp/a 0–1,000,000 ×8 · +0.000 s
//   └ cat[812] write pipe:[77] 0–1,000,000 ×8 · likely (hash) · +0.001 s
//     └ tee[813] read pipe:[77] 0–1,000,000 ×123 · certain (pipe) · +0.001 s
//       ├ tee[813] write /tmp/b 0–1,000,000 ×123 · likely (hash) · +0.002 s
//       └ …
//   5 hops · 123 certain, 131 likely, 0 possible flows · no gaps in this time
//
// A hop that several ways lead to is told once, and referred to by its number (#2) elsewhere.
#pragma once

#include <cstddef>
#include <string>

#include "reports/follow/follow_trail.h"

namespace dyetrace::reports {

inline constexpr std::size_t kFollowLinesMax = 200;  // four screens; --json and --dot have all

struct FollowStyle {
    std::size_t width = 80;  // columns of the terminal
    bool colour = false;
};

std::string follow_text(const FollowTrail& trail, const FollowStyle& style);

// LAASER's table: time downwards, a column per process, what each did with these bytes. It has as
// many columns as the terminal is wide for; the other processes follow in tables of their own.
//
//            cat[812]         tee[813]
//   +0.000 s  read /tmp/a
//   +0.001 s  write pipe:[77]
//   +0.001 s                   read pipe:[77]
std::string follow_table(const FollowTrail& trail, const FollowStyle& style);

// One object, ended by a line break.
std::string follow_json(const FollowTrail& trail);

// A digraph from cause to effect, whichever way was asked for.
std::string follow_dot(const FollowTrail& trail);

}  // namespace dyetrace::reports
