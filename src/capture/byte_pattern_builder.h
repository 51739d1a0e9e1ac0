// Makes the states of a BytePattern of its text: a tree of what it says, of that points with steps between them, of these the
// steps from byte to byte.
//
//   a(b|c)*   ─►  each(a, repeat(any_of(b, c)))  ─►  a ─►•─► b ─►•   ─►  a: b, c, found    b: b, c, found    c: …
//                                                        └─► c ─►•
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/byte_pattern.h"

namespace dyetrace::capture {

class BytePatternBuilder {
  public:
    explicit BytePatternBuilder(std::string_view text) : text_(text) {}

    // Once.
    Result<BytePattern> make();

  private:
    using Bytes = std::bitset<256>;
    using Index = std::uint32_t;
    static constexpr std::size_t kPointsMax = 4 * BytePattern::kStatesMax;
    static constexpr std::size_t kRepeatMax = 1'000;  // in {m,n}
    static constexpr std::size_t kNoLimit = SIZE_MAX;

    enum class Kind { kBytes, kEach, kAnyOf, kRepeat, kLineBegins, kLineEnds };
    struct Part {
        Kind kind{};
        Bytes bytes;
        std::vector<Index> parts;
        std::size_t least = 0, most = 0;  // of kRepeat
        std::size_t longest = 0;          // bytes of a match
    };
    // Takes a byte and goes on, or goes on at once, in one way or several.
    struct Point {
        bool takes_byte = false;
        Bytes bytes;
        std::uint8_t conditions = 0;
        std::vector<Index> next;
    };

    // The parser; the first failure stays, and the rest of the text is skipped.
    Index parse_any_of();
    Index parse_each();
    Index parse_repeat(Index part);
    Index parse_atom();
    Index parse_group();
    Bytes parse_escape();
    Bytes parse_brackets();
    Bytes parse_class();
    bool take_range(Bytes& bytes, const Bytes& from);
    bool take_counts(std::size_t& least, std::size_t& most);
    std::optional<std::size_t> take_number();
    void fail(std::string why);
    bool at_end() const { return at_ >= text_.size(); }
    bool sees(char letter) const { return !at_end() && text_[at_] == letter; }
    bool take(std::string_view word);
    Index add(Part part);
    Index add_bytes(Bytes bytes);

    // The points, from the end to the begin: each returns where it begins.
    Index lay(Index part, Index next);
    Index lay_repeat(const Part& repeat, Index next);
    Index add_point(Point point);
    void join(BytePattern& pattern, Index entry);
    void find_steps(Index from,
                    const std::vector<Index>& states,
                    std::vector<BytePattern::Step>& steps) const;

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t depth_ = 0;
    bool either_case_ = false;
    std::vector<Part> parts_;
    std::vector<Point> points_;
    std::optional<Error> failure_;
};

}  // namespace dyetrace::capture
