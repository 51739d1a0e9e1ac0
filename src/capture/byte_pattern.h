// A regular expression over bytes, searched for in time that grows with bytes times states, whatever the bytes are: they may
// come from somebody who wants the search to take long.
//
//   a(b|c)d     states wait for a byte:   a ─► b ─► d ─► found
//                                           └► c ─┘
//
// A search takes all states along at once, each with the first place where a match that led to it may have begun. So it finds
// the bytes of all matches, wherever they begin and however long they are. And it can say of a piece of something larger what
// could be part of a match: at an open end the states that still wait, at an open begin all states.
//
//   "4929 1234"   [0-9]{4} [0-9]{4} [0-9]{4}      no match; with an open end all of it, with an open begin too
//
// Grammar: as `grep -E` without back references: | * + ? {m,n} ( ) . [ ] ^ $, with \d \D \w \W \s \S \n \r \t \f \v \xHH, the
// classes [:alpha:] …, and (?i) in front for letters of either case. `.` is every byte but a line's end; ^ and $ also match at
// both ends of what is searched. Bytes are bytes: é is two of them.
//
// Limits: kStatesMax states, kStepsMax steps between them, parentheses kDepthMax deep.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace dyetrace::capture {

// Bytes from, to in what is searched.
using Stretch = std::pair<std::size_t, std::size_t>;

// What stands beside the ends of what is searched: open ones go on with bytes that nobody knows.
struct Ends {
    bool open_before = false, open_after = false;
};

class BytePattern {
  public:
    static constexpr std::size_t kStatesMax = 20'000;  // 1.2 MB
    static constexpr std::size_t kStepsMax = 200'000;  // 1.6 MB
    static constexpr std::size_t kDepthMax = 100;      // of the parser's recursion

    static Result<BytePattern> parse(std::string_view text);

    // SIZE_MAX: there is none.
    std::size_t longest_match() const { return longest_match_; }

    // Appends disjoint stretches by rising place, of all bytes that are part of a match, or with open ends could be. A match
    // of no bytes is none.
    void find(std::span<const std::byte> bytes, Ends ends, std::vector<Stretch>& out) const;

  private:
    friend class BytePatternBuilder;
    class Search;

    // At the border between two bytes.
    enum Condition : std::uint8_t { kAlways = 0, kLineBegins = 1, kLineEnds = 2 };
    struct Step {
        std::uint32_t state;  // or kFound
        std::uint8_t conditions;
        friend auto operator<=>(const Step&, const Step&) = default;
    };
    static constexpr std::uint32_t kFound = UINT32_MAX;

    struct State {
        std::bitset<256> bytes;
        std::uint32_t first_step = 0, steps = 0;
    };

    std::vector<State> states_;
    std::vector<Step> steps_;
    std::vector<Step> begin_;
    std::array<bool, 256> begins_match_{};  // by first byte
    std::size_t longest_match_ = 0;
};

}  // namespace dyetrace::capture
