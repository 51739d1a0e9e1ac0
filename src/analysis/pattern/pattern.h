// What the accesses of somebody to a set of files look like: how they follow one another, how large they are, what they
// cover, and in which order which passes met what.
//
//   PatternBuilder builder;
//   for each access, in the order of time: builder.add(access);
//   Pattern pattern = std::move(builder).finish(sizes_of_files);
//   pattern.verdict.name                                             "random"
//   order_of(pattern.by_place.passes[1].beside_previous->pieces)     Order::kShuffled
//
// Limits: kAccessesMax accesses are kept, 50 bytes each and some 200 while passes are compared. When there are more, a half
// is thrown away, chosen by where they begin (by their content, if it is known) and not by when, as often as needed: an order
// among those that are left is an order of all, and `sampled_one_in` says what was done. Where that does not halve them (one
// place, over and over), only the first ones are kept, and `kept_of_first` says of how many. The steps are counted of all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/pattern/access.h"
#include "analysis/pattern/coverage.h"
#include "analysis/pattern/passes.h"
#include "analysis/pattern/steps.h"

namespace dyetrace::analysis {

struct SizeCount {
    std::uint64_t bytes = 0, accesses = 0;
};

struct Sizes {
    static constexpr std::size_t kFrequent = 3;

    std::uint64_t min = 0, median = 0, max = 0;
    std::vector<SizeCount> frequent = {};  // the most frequent ones, of the kept accesses
};

struct ByContent {
    std::vector<Access> accesses;  // see by_content()
    Passes passes;
};

struct Pattern {
    std::uint64_t accesses = 0, bytes = 0;
    std::uint64_t begin_ns = 0, end_ns = 0;  // when the first one began, and the last one ended
    StepCounter::Counts steps;
    Verdict verdict;
    std::uint64_t sampled_one_in = 1;
    std::optional<std::uint64_t> kept_of_first;  // what follows knows only so many accesses
    std::vector<Access> kept;
    FileLayout extent;
    Sizes sizes;  // below: of the kept ones
    Coverage coverage;
    Passes by_place;
    std::optional<ByContent> by_content;  // where accesses have fingerprints
};

class PatternBuilder {
  public:
    static constexpr std::size_t kAccessesMax =
        2'000'000;  // half a gigabyte when taken at random and compared
    static constexpr std::size_t kUnevenMax =
        8;  // a "half" of less than an eighth, or more than seven, is none

    explicit PatternBuilder(std::size_t accesses_max = kAccessesMax)
        : accesses_max_(accesses_max) {}

    // `end_ns`: when it ended, if that is known.
    void add(const Access& access, std::uint64_t end_ns = 0);
    // `file_sizes` by number of file; missing ones are as long as they were accessed.
    Pattern finish(std::vector<std::uint64_t> file_sizes) &&;

  private:
    bool is_kept(const Access& access) const;
    void keep_half();

    std::size_t accesses_max_;
    StepCounter steps_;
    Pattern pattern_;
};

}  // namespace dyetrace::analysis
