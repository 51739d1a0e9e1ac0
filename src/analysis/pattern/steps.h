// How accesses follow one another within each file.
//
//   bytes of the file →  0        4096     8192     12288
//   sequential           ├────────┤├────────┤├────────┤          begins where the last one ended
//   strided              ├──┤     ├──┤     ├──┤                  contiguous runs that begin at equal distances
//   skipping             ├──┤ ├──┤       ├──┤  ├──┤              forward, with gaps of any size
//   reversed             ends where the last one began
//   repeated             begins where the last one began
//   random               anything else
//
// Distances and gaps count only in a row: three equal jumps make a stride, eight jumps forward make a skipping reader; fewer
// happen by chance when records are taken at random.
//
// Limits: kStridesMax distances are counted by name, memory of some 200 bytes per file; the caller bounds the files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>

#include "analysis/pattern/access.h"

namespace dyetrace::analysis {

enum class Step : std::uint8_t {
    kFirst,  // of its file
    kSequential,
    kStrided,
    kSkipping,
    kReversed,
    kRepeated,
    kRandom,
};
inline constexpr std::size_t kSteps = 7;
std::string_view name_of(Step step);

class StepCounter {
  public:
    static constexpr std::size_t kStrideRunMin =
        3;  // equal jumps; two occur by chance, in n records about twice
    static constexpr std::size_t kForwardRunMin = 8;  // jumps; by chance one in 8! = 40,320
    static constexpr std::size_t kStridesMax =
        256;  // distances; a file with more has no stride to speak of

    struct Counts {
        std::array<std::uint64_t, kSteps> steps{};
        std::map<std::int64_t, std::uint64_t> strides;  // distance in bytes: steps of kStrided

        std::uint64_t of(Step step) const { return steps[static_cast<std::size_t>(step)]; }
    };

    void add(const Access& access);
    Counts counts() const;

  private:
    // The latest jumps of a file, whose meaning the next ones can still change.
    struct Jump {
        Step step = Step::kRandom;
        std::int64_t distance = 0;
    };
    struct File {
        std::uint64_t offset = 0, end = 0, run_start = 0;
        std::array<Jump, kForwardRunMin> latest;
        std::uint64_t jumps = 0;  // of which the last ones are in `latest`
        std::size_t equal = 0, forward = 0;
    };

    void jump(File& file, const Access& access);
    static void count(Counts& counts, const Jump& jump);

    Counts decided_;
    std::unordered_map<std::uint32_t, File> files_;
};

// What one would call it: the step that most follow, or mixed.
struct Verdict {
    static constexpr double kPureShare = 0.9;  // of the steps; the first access of a file is none

    std::string_view name;    // sequential, …, mixed; single: no file was accessed twice
    std::int64_t stride = 0;  // the usual one, if strided
};
Verdict verdict_of(const StepCounter::Counts& counts);

}  // namespace dyetrace::analysis
