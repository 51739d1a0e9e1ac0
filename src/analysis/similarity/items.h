// What is compared: events or objects ("items"), each with the anchors of the bytes that it moved and, if it is small, with a sketch
// of them (content/sketch.h).
//
//   Items items;
//   const auto log = items.add({.id = 7, .bytes = 1'000'000});
//   items.add_anchor(log, fingerprint, times);  …
//   items.add_window(page, 128, window);  …
//   const Contents contents = std::move(items).finish();
//
// Two contents that both have sketches are compared by these, as far as the coarser one goes; others by their anchors:
//
//   64 bytes  ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒      256 bytes  ▒▒▒▒          of the first one those count that are in a sketch of 256 bytes: ▒▒▒▒
//
// A content is what items have in common that have the same anchors and sketch, or, where there are fewer than kAnchorsTelling, the same
// fingerprint of all their bytes. So a file that was copied a thousand times is compared once. Contents are numbered by what
// is in them alone, those with more anchors first: the same ones have the same order in every trace.
//
//   content     0 ▒▒▒▒▒▒▒▒  1 ▒▒▒▒▒  2 ▒▒  3 (no anchor: a fingerprint)
//   items      12, 40      7        9     8, 10, 11
//
// Nothing is known of a item that has neither. Memory: 48 bytes a item, 16 an anchor or window, and 16 more while they are sorted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dyetrace::analysis {

// With fewer anchors the same ones may well stand in different contents.
inline constexpr std::size_t kAnchorsTelling = 3;

struct Item {
    std::uint64_t id = 0;
    std::uint64_t bytes = 0;                        // that it moved, repetitions too
    std::optional<std::uint64_t> fingerprint = {};  // of all of them, if that is known
    std::uint64_t content_bytes = 0;                // those that the fingerprint is of
    std::uint32_t trace = 0;                        // where it is from
    std::uint32_t sketch_distance =
        0;  // mean one of the windows of its sketch; 0: it has none; by add_window()
    std::uint64_t anchors = 0;  // in `bytes`, repetitions too; counted by add_anchor()
};

// Two contents side by side: what each has of what is compared, and what both have.
struct Compared {
    std::uint64_t of_a = 0, of_b = 0, shared = 0;
    std::uint32_t distance =
        0;  // from one window to the next, if these are of sketches; 0: anchors

    std::uint64_t either() const { return of_a + of_b - shared; }
    double jaccard() const { return static_cast<double>(shared) / static_cast<double>(either()); }
};

// Both were moved as a whole, and are the same bytes.
bool are_equal(const Item& a, const Item& b);

// The level from which on the sketches, which together have so many windows of each level, have at most
// `most`. The windows of levels below it are to be left out, which makes all sketches as coarse as
// one of that level; 4: all.
inline constexpr std::size_t kSketchLevels = 4;
std::uint32_t finest_level(const std::array<std::uint64_t, kSketchLevels>& windows,
                           std::uint64_t most);

class Contents {
  public:
    std::size_t size() const { return firsts_.size() - 1; }
    const std::vector<Item>& items() const { return items_; }

    // Indices of items, by trace and id; never none.
    std::span<const std::uint32_t> members(std::uint32_t content) const {
        return std::span(members_).subspan(firsts_[content],
                                           firsts_[content + 1u] - firsts_[content]);
    }
    const Item& first(std::uint32_t content) const { return items_[members(content)[0]]; }
    // Windows of its sketch, then fingerprints of its anchors; each once, in order. Below 2^32 it is a window (or one anchor of 2^32).
    std::span<const std::uint64_t> prints(std::uint32_t content) const {
        return prints_of_item(members(content)[0]);
    }
    std::span<const std::uint64_t> anchors(std::uint32_t content) const {
        return anchors_of_item(members(content)[0]);
    }
    std::span<const std::uint64_t> sketch(std::uint32_t content) const {
        return sketch_of_item(members(content)[0]);
    }
    bool has_sketch(std::uint32_t content) const { return first(content).sketch_distance != 0; }
    // How many there are of what most is known by: windows if it has a sketch, else anchors.
    std::size_t size_of(std::uint32_t content) const {
        return has_sketch(content) ? sketch(content).size() : anchors(content).size();
    }
    // Compares by sketches if both have one. `shared`: windows or anchors that both have.
    Compared compared(std::uint32_t a, std::uint32_t b, std::uint64_t shared) const;
    // Compares a content with itself: what items that are the same have.
    Compared compared(std::uint32_t content) const {
        return compared(content, content, size_of(content));
    }
    // The content of a item; none if nothing is known of it.
    std::optional<std::uint32_t> of_item(std::size_t item) const;
    std::uint64_t unknown() const { return unknown_; }

  private:
    friend class Items;
    std::span<const std::uint64_t> prints_of_item(std::size_t item) const {
        return std::span(prints_).subspan(begins_[item], begins_[item + 1] - begins_[item]);
    }
    std::span<const std::uint64_t> anchors_of_item(std::size_t item) const;
    std::span<const std::uint64_t> sketch_of_item(std::size_t item) const;

    std::vector<Item> items_;
    std::vector<std::size_t> begins_{0};  // in prints_, by item
    std::vector<std::uint64_t> prints_;
    std::vector<std::uint32_t> members_;
    std::vector<std::size_t> firsts_{0};     // in members_, by content
    std::vector<std::uint32_t> content_of_;  // by item
    std::uint64_t unknown_ = 0;
};

class Items {
  public:
    std::uint32_t add(const Item& item);
    // `times`: how often it is there.
    void add_anchor(std::uint32_t item, std::uint64_t fingerprint, std::uint64_t times = 1);
    // The window is one of a sketch with this distance. An item's own distance is that of the
    // coarsest of its sketches; windows too fine for it are left out.
    void add_window(std::uint32_t item, std::uint32_t distance, std::uint32_t window);
    std::size_t size() const { return contents_.items_.size(); }
    const Item& item(std::size_t index) const { return contents_.items_[index]; }

    Contents finish() &&;

  private:
    struct Placed {
        std::uint32_t item;
        std::uint64_t print;
    };
    struct Key;

    void sort_prints();
    void lay_out_prints();
    Key key_of(std::uint32_t item) const;
    std::vector<Key> sorted_keys() const;

    Contents contents_;
    std::vector<Placed> placed_;
};

}  // namespace dyetrace::analysis
