// What people ask `dyetrace follow` about, and the bytes of events that are meant by it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/dataflow/trail.h"
#include "base/result.h"
#include "content/fingerprint.h"
#include "query/flows/trace_questions.h"
#include "store/database.h"

namespace dyetrace::reports {

inline constexpr std::size_t kHopsMax = 10'000;  // of people's or programs' interest

// One of path, event, hash, dye and text.
struct FollowQuestion {
    std::optional<std::string> path;
    std::uint64_t begin = 0, end = UINT64_MAX;  // bytes of the file at that path
    std::optional<std::uint64_t> event;
    std::optional<std::uint64_t> hash;  // events that moved exactly these bytes
    std::optional<std::string> dye;     // by its name
    std::optional<std::string>
        text;  // bytes, which the trace knows by fingerprints and anchors only
    std::optional<content::ContentKey> key;  // that the trace was recorded with, for `text`
    analysis::Direction direction = analysis::Direction::kForward;
    schema::Certainty min_certainty = schema::Certainty::kLikely;
    std::size_t hops_max = kHopsMax;  // the first ones

    // What was asked about may be met in many places: where one is reached from another, only the first is a start.
    bool is_about_content() const { return !path && !event; }
};

// "/tmp/a, bytes 0 to 100"
std::string text_of(const FollowQuestion& question);

struct FollowStarts {
    std::vector<analysis::TrailPiece> pieces;
    std::size_t files =
        0;  // those that had the path asked about, one after the other, and moved bytes
    bool is_cut = false;       // there are more
    bool has_content = false;  // the trace has fingerprints
};

// kNotFound: the trace has no such object, event, hash, dye or text.
Result<FollowStarts> find_starts(store::Database& database,
                                 const FollowQuestion& question,
                                 query::Operations& operations);

}  // namespace dyetrace::reports
