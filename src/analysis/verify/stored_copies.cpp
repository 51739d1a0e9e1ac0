#include "analysis/verify/stored_copies.h"

#include <algorithm>
#include <utility>

namespace dyetrace::analysis {
namespace {

Change change_between(const std::vector<Copy>& copies,
                      std::size_t first,
                      std::size_t later,
                      const Stretch& stretch) {
    Change change;
    change.reference = change.good = first;
    change.bad = later;
    change.stretch = stretch;
    change.good_begin = stretch.begin;
    change.good_event = copies[first].strip.piece_at(stretch.begin).event;
    change.bad_event = copies[later].strip.piece_at(stretch.copy_begin).event;
    return change;
}

// Whether the reference has a frame among these bytes of a file.
bool is_around_frame(const StripComparison& with_reference, const Stretch& in_file) {
    return std::any_of(
        with_reference.stretches.begin(), with_reference.stretches.end(), [&](const Stretch& one) {
            return one.outcome == Outcome::kResized && one.copy_begin < in_file.copy_end &&
                   in_file.copy_begin < one.copy_end;
        });
}

// Several files may have the same other bytes there, and several may read one of them: that is one change.
void add_once(const std::vector<Copy>& copies, Change change, std::vector<Change>& changes) {
    const auto sum_in = [&](const Change& one) {
        return copies[one.bad].strip.sum_of(one.stretch.copy_begin, one.stretch.copy_end);
    };
    const auto sum = sum_in(change);
    const auto told = std::find_if(changes.begin(), changes.end(), [&](const Change& other) {
        return sum && other.reference == change.reference &&
               other.stretch.begin == change.stretch.begin &&
               other.stretch.end == change.stretch.end &&
               other.stretch.put_in() == change.stretch.put_in() && sum_in(other) == sum;
    });
    if (told == changes.end()) {
        changes.push_back(std::move(change));
    } else {
        told->later.push_back(change.bad);
    }
}

}  // namespace

void hold_against_first_file(const std::vector<Copy>& copies,
                             std::span<const std::size_t> members,
                             std::size_t reference,
                             std::map<std::size_t, StripComparison>& comparisons,
                             std::vector<Change>& changes) {
    const auto first = std::find_if(
        members.begin(), members.end(), [&](std::size_t member) { return copies[member].in_file; });
    if (first == members.end() || copies[reference].in_file) {
        return;
    }
    for (auto at = first + 1; at != members.end(); ++at) {
        StripComparison& comparison = comparisons.at(*at);
        if (!copies[*at].in_file || comparison.stretches.empty()) {
            continue;
        }
        const Strip& stored = copies[*first].strip;
        const StripComparison among_files = compare_strips(stored, copies[*at].strip);
        const bool has_frames =
            among_files.is_shifted() && !among_files.is_whole(stored, copies[*at].strip);
        for (const Stretch& stretch : among_files.stretches) {
            if (!has_frames && stretch.outcome != Outcome::kNotCompared &&
                is_around_frame(comparison, stretch)) {
                add_once(copies, change_between(copies, *first, *at, stretch), changes);
            }
        }
        std::erase_if(comparison.stretches, [&](const Stretch& stretch) {
            return stretch.outcome == Outcome::kResized &&
                   among_files.is_same(stretch.copy_begin, stretch.copy_end);
        });
    }
}

}  // namespace dyetrace::analysis
