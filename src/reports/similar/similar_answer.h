// What `dyetrace similar` found, ready to be shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/similarity/share.h"

namespace dyetrace::reports {

struct SimilarItem {
    std::uint64_t id = 0;
    std::uint32_t trace = 0;    // index in SimilarAnswer::traces
    std::string name;           // "/etc/hosts", "cat[4711] read /etc/hosts"
    std::uint64_t bytes = 0;    // that it moved
    std::uint64_t anchors = 0;  // or windows of its sketch: what it was compared by
};

struct SimilarPair {
    SimilarItem a, b;
    bool equal = false;
    analysis::Share jaccard, a_in_b, b_in_a;
    std::uint64_t shared = 0;        // anchors, or windows of sketches
    std::uint64_t shared_bytes = 0;  // estimated
};

struct SimilarAnswer {
    std::vector<std::string> traces;  // one, or two that were compared
    bool are_objects = true;
    std::uint64_t compared = 0;          // items
    std::uint64_t unknown = 0;           // of which nothing can be said
    std::optional<SimilarItem> subject;  // what was asked about; none: pairs of all
    std::uint64_t same_name = 0;         // items that are called as it is, itself too
    std::vector<SimilarPair> pairs;      // by what they have in common at least; `a` is the subject
    std::uint64_t left_out = 0;          // pairs beyond what is kept
};

// Words for a terminal of `width` columns.
std::string similar_text(const SimilarAnswer& answer, std::size_t width);

// An object per pair and line.
std::string similar_json(const SimilarAnswer& answer);

}  // namespace dyetrace::reports
