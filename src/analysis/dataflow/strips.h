// What processes moved into or out of one object, call after call without a hole, in sums: where calls meet, and what all bytes up to there add up to.
//
//   write  write      write            a strip of three calls; the sum of what lies between two borders, or a border and an anchor,
//   |------|----------|----|           follows from their sums (content/content_sum.h)
//
// Memory: kStripsMax strips, kCallsMax calls in all of them, the last kCallsOfStripMax of each; older ones are forgotten, and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analysis/dataflow/flow.h"
#include "analysis/dataflow/operation.h"

namespace dyetrace::analysis {

inline constexpr std::size_t kStripsMax = 16'384;
inline constexpr std::size_t kCallsMax = 1 << 21;  // 32 bytes each: 64 MiB
// A quarter: what is read in small calls and written at once is 256 MiB in calls of 512 bytes.
inline constexpr std::size_t kCallsOfStripMax = kCallsMax / 4;

// A place in a strip whose sum is known: a border of calls, or the end of an anchor's window.
struct StripPlace {
    std::uint64_t position = 0;  // in the object
    std::uint64_t sum = 0;       // of the strip up to there
};

struct SummedStrip {
    struct Call {
        std::uint64_t event = 0;
        StripPlace begin;
    };

    std::uint64_t id = 0;  // not 0
    std::uint64_t object = 0;
    std::uint64_t used = 0;  // by what call it grew last
    StripPlace end;
    std::deque<Call> calls;  // by position; each ends where the next one begins

    std::uint64_t end_of(std::size_t call) const {
        return call + 1 < calls.size() ? calls[call + 1].begin.position : end.position;
    }
    // The place of the border there, if one is known.
    std::optional<StripPlace> border_at(std::uint64_t position) const;
};

// The sum of what lies between two places of one strip.
std::uint64_t sum_between(const StripPlace& from, const StripPlace& to);

class Strips {
  public:
    // The call at the end of the strip to which it belongs, maybe a new one. nullptr: its sum or its place is not known. Valid until the next add().
    SummedStrip* add(const Operation& operation, const Act& act);
    SummedStrip* find(std::uint64_t id);

    std::uint64_t forgotten() const { return forgotten_; }

  private:
    void forget_oldest();

    std::unordered_map<std::uint64_t, SummedStrip> strips_;  // by id
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>
        last_of_;  // id, by process and object
    std::uint64_t ids_ = 0, used_ = 0;
    std::size_t calls_ = 0;        // of all strips
    std::uint64_t forgotten_ = 0;  // calls
};

}  // namespace dyetrace::analysis
