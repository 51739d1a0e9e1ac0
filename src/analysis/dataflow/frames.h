// Where frames were put in between the bytes that a process passes on, or taken out: heads, lengths, checksums.
//
//   read   |-----a----------b----|              a, b: anchors; in the write there are f bytes more between them
//   write  |--a---x|HEAD|-------b--|            the frame lies at a border of calls: x bytes after a
//
// Sums say whether that is so where both sides of the frame, or a frame of up to kTinyFrame bytes, stand between places whose sums are known. Where they do not
// reach, a place of the frame is a guess. It is confirmed, and likely, if
//
//   - a process put it in and another one took it out of the same bytes: with and without it, what lies between a and b has the same sums for both;
//   - the calls of the one that move the bytes without the frame meet there, and nowhere else between a and b;
//   - those of the other one that move them with the frame do, too, and what stands before it has the same sum.
//
// A guess that nobody confirms is possible at most.
//
// Memory: guesses of kGuessesMax gaps, some 500 bytes each; the oldest go first, and are told as possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/dataflow/strips.h"

namespace dyetrace::analysis {

inline constexpr std::uint64_t kTinyFrame =
    4;  // bytes: a wrong place would fit by chance once in 2^32
inline constexpr std::size_t kGuessesMax = 65'536;
inline constexpr std::size_t kGuessFlowsMax = 64;  // of one guess, until it is confirmed
inline constexpr std::size_t kVoicesMax = 8;       // of one guess

// The bytes from one anchor to the next one, on one side.
struct Gap {
    const SummedStrip* strip = nullptr;
    StripPlace from, to;
    std::uint64_t size() const { return to.position - from.position; }
};

// A frame after the first `before` bytes of the shorter gap.
struct FramePlace {
    std::uint64_t before = 0;
    bool front_is_same = false;  // by sums: what stands before the frame
    bool back_is_same = false;   // what stands after it
    // Sums of what stands before it, where calls meet there and nowhere else (the frame's other end does not count).
    std::optional<std::uint64_t> front_without, front_with;

    bool is_known() const { return front_is_same && back_is_same; }
};

// Where the frame may lie; if sums say where, that place alone. `longer` has it.
std::vector<FramePlace> frame_places(const Gap& shorter, const Gap& longer);

// Guesses, until somebody confirms them.
class FrameGuesses {
  public:
    struct Key {
        std::uint64_t from = 0, to = 0;  // fingerprints of the anchors
        std::uint64_t short_bytes = 0, long_bytes = 0;
        std::uint64_t short_sum = 0, long_sum = 0;
        friend bool operator==(const Key&, const Key&) = default;
    };

    // `strip` (its id) has the frame at `place`, if the guess is right, and then `flows` are so, too: they are added to `confirmed`, at once or later.
    void guess(const Key& key,
               std::uint64_t strip,
               const FramePlace& place,
               const std::vector<Flow>& flows,
               std::vector<Flow>& confirmed);
    // What nobody confirmed, as possible, if one side of the frame is known.
    void give_up(std::vector<Flow>& flows);

  private:
    struct Voice {
        std::uint64_t strip = 0;
        std::optional<std::uint64_t> front_without, front_with;
    };
    struct Guess {
        FramePlace place;
        std::vector<Voice> voices;
        std::vector<Flow> flows;

        bool is_confirmed() const;
    };
    struct Guesses {  // of one gap
        std::vector<Guess> guesses;
        std::optional<std::uint64_t> before;  // of the place that was confirmed
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const;
    };
    void give_up_oldest(std::vector<Flow>& flows);
    static void tell(Guess& guess, schema::Certainty certainty, std::vector<Flow>& flows);

    std::unordered_map<Key, Guesses, KeyHash> guesses_;
    std::deque<Key> order_;
};

}  // namespace dyetrace::analysis
