// What is compared: events or objects ("things"), each with the anchors of the bytes that it moved.
//
//   Things things;
//   const auto log = things.add({.id = 7, .bytes = 1'000'000});
//   things.add_anchor(log, fingerprint, times);  …
//   const Contents contents = std::move(things).finish();
//
// A content is what things have in common that have the same anchors, or, where there are fewer than kAnchorsTelling, the same
// fingerprint of all their bytes. So a file that was copied a thousand times is compared once. Contents are numbered by what
// is in them alone, those with more anchors first: the same ones have the same order in every trace.
//
//   content     0 ▒▒▒▒▒▒▒▒  1 ▒▒▒▒▒  2 ▒▒  3 (no anchor: a fingerprint)
//   things      12, 40      7        9     8, 10, 11
//
// Nothing is known of a thing that has neither. Memory: 40 bytes a thing, 16 an anchor, and 16 more while they are sorted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dyetrace::analysis {

// With fewer anchors the same ones may well stand in different contents.
inline constexpr std::size_t kAnchorsTelling = 3;

struct Thing {
    std::uint64_t id = 0;
    std::uint64_t bytes = 0;                        // that it moved, repetitions too
    std::optional<std::uint64_t> fingerprint = {};  // of all of them, if that is known
    std::uint64_t content_bytes = 0;                // those that the fingerprint is of
    std::uint32_t trace = 0;                        // where it is from
    std::uint64_t windows = 0;  // anchors in `bytes`, repetitions too; counted by add_anchor()
};

// Both were moved as a whole, and are the same bytes.
bool are_equal(const Thing& a, const Thing& b);

class Contents {
  public:
    std::size_t size() const { return firsts_.size() - 1; }
    const std::vector<Thing>& things() const { return things_; }

    // Indices of things, by trace and id; never none.
    std::span<const std::uint32_t> members(std::uint32_t content) const {
        return std::span(members_).subspan(firsts_[content],
                                           firsts_[content + 1u] - firsts_[content]);
    }
    const Thing& first(std::uint32_t content) const { return things_[members(content)[0]]; }
    // Fingerprints, each once, in order.
    std::span<const std::uint64_t> anchors(std::uint32_t content) const {
        return anchors_of_thing(members(content)[0]);
    }
    // The content of a thing; none if nothing is known of it.
    std::optional<std::uint32_t> of_thing(std::size_t thing) const;
    std::uint64_t unknown() const { return unknown_; }

  private:
    friend class Things;
    std::span<const std::uint64_t> anchors_of_thing(std::size_t thing) const {
        return std::span(anchors_).subspan(begins_[thing], begins_[thing + 1] - begins_[thing]);
    }

    std::vector<Thing> things_;
    std::vector<std::size_t> begins_{0};  // in anchors_, by thing
    std::vector<std::uint64_t> anchors_;
    std::vector<std::uint32_t> members_;
    std::vector<std::size_t> firsts_{0};     // in members_, by content
    std::vector<std::uint32_t> content_of_;  // by thing
    std::uint64_t unknown_ = 0;
};

class Things {
  public:
    std::uint32_t add(const Thing& thing);
    // `times`: how often it is there.
    void add_anchor(std::uint32_t thing, std::uint64_t fingerprint, std::uint64_t times = 1);
    std::size_t size() const { return contents_.things_.size(); }
    const Thing& thing(std::size_t index) const { return contents_.things_[index]; }

    Contents finish() &&;

  private:
    struct Placed {
        std::uint32_t thing;
        std::uint64_t fingerprint;
    };
    struct Key;

    void lay_out_anchors();
    Key key_of(std::uint32_t thing) const;
    std::vector<Key> sorted_keys() const;

    Contents contents_;
    std::vector<Placed> placed_;
};

}  // namespace dyetrace::analysis
