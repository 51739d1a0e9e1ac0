// Dyes across the border of two operations: pieces of one stream or file that follow each other, and what lies over their ends.
//
//   piece [600, 1000) "… card=49"      piece [1000, 1600) "29123456781234 …"     join() ──► card at 992, ends in the second
//        keeps its first and last bytes, as many as may belong to an occurrence, and nothing of the middle
//
// Pieces with positions (TCP, files) meet by position, in whatever order they come: a read of the second half before the
// first is joined too. In a file a new piece takes the place of those that it overlaps. Pieces
// without (pipes, unix sockets) follow each other as they come. Pieces of two objects, or of its
// two directions, never meet.
//
// An occurrence that lies in one piece as a whole is not found here: the kernel has found it.
//
// Limits: kPiecesMax pieces and kOrdersMax streams without positions are remembered, those that came last; forgotten() counts
// the others, unless both their neighbours had come. One thread. Memory: at most 64 MiB, with dyes of 256 bytes; 20 MiB with those of 16.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/dye_table.h"

namespace dyetrace::capture {

// An occurrence; position counts from the first byte of the event in which it ends.
struct DyeCrossing {
    std::uint32_t cpu = 0;
    std::uint64_t sequence = 0;
    std::uint32_t dye = 0;
    schema::DyeForm form = schema::DyeForm::kPlain;
    std::int64_t position = 0;
    std::uint64_t anchor = 0;      // its fingerprint, if it is one and no dye
    std::uint64_t prefix_sum = 0;  // of an anchor: of the event's bytes up to its end
    bool second = false;           // it lies on the event's second object
    bool operator==(const DyeCrossing&) const = default;
};

// What was told of an event.
using DyesTold = std::vector<DyeCrossing>;

struct DyePiece {
    std::uint32_t cpu = 0;  // of the event, as its sequence is
    std::uint64_t sequence = 0;
    std::uint32_t object_id = 0;
    bool inbound = false;
    bool second = false;                    // that object is the event's second one
    std::optional<std::uint64_t> position;  // of its first byte; nothing: it follows the last one
    std::uint64_t length = 0;
    std::string first;  // all bytes if `whole`
    std::string last;   // nothing if `whole`
    bool whole = false;
    // Both pieces of an event with two objects have the same: what lies on both is one occurrence, and either may be forgotten first.
    std::shared_ptr<DyesTold> told;
};

// An occurrence of a dye, or an anchor, in bytes that were put together; what event it belongs to is filled in later.
struct DyeFound {
    DyeCrossing what;
    std::size_t begin = 0, end = 0;
};

class DyeBorders {
  public:
    static constexpr std::size_t kPiecesMax = 65'536;  // a random order of 512 MiB in 8 KiB pages
    static constexpr std::size_t kOrdersMax = 65'536;  // pipes and sockets

    explicit DyeBorders(std::size_t pieces_max = kPiecesMax, std::size_t orders_max = kOrdersMax)
        : pieces_max_(pieces_max), orders_max_(orders_max) {}

    // Adds what lies over the ends of this piece.
    void join(const DyeTable& table, DyePiece piece, std::vector<DyeCrossing>& found);

    // Bytes were moved that nobody has seen: at these positions, or of an object without them, next.
    void forget(std::uint32_t object_id,
                std::optional<std::uint64_t> position,
                std::uint64_t length);
    // Events were lost: what comes next in any stream without positions may not follow.
    void forget_orders() { orders_.clear(); }

    std::uint64_t forgotten() const { return forgotten_; }

  private:
    using Key = std::uint64_t;  // object and direction
    struct Place {
        Key key;
        std::uint64_t position;
    };
    struct Kept {
        DyePiece piece;
        std::list<Place>::iterator age;
        bool met_left = false;  // a piece that ends where it begins
        bool met_right = false;
        std::uint64_t end() const { return *piece.position + piece.length; }
    };
    using Range = std::map<std::uint64_t, Kept>;  // by position

    static Key key_of(std::uint32_t object_id, bool inbound) {
        return std::uint64_t{object_id} << 1 | (inbound ? 1u : 0u);
    }
    void join_order(const DyeTable& table, const DyePiece& piece, std::vector<DyeCrossing>& found);
    void join_range(const DyeTable& table, DyePiece piece, std::vector<DyeCrossing>& found);
    // At most so many, of the pieces that touch this one.
    static std::string bytes_before(const Range& range,
                                    Range::const_iterator piece,
                                    std::size_t bytes);
    static std::string bytes_after(const Range& range,
                                   Range::const_iterator piece,
                                   std::size_t bytes);
    // What begins and ends so far after `position` in the range.
    static void tell(Range& range,
                     const DyeFound& one,
                     std::uint64_t position,
                     std::vector<DyeCrossing>& found);
    void search(const DyeTable& table,
                Range& range,
                Range::iterator piece,
                std::vector<DyeCrossing>& found);
    void erase(Key key, std::uint64_t from, std::uint64_t to);
    void forget_oldest();

    std::size_t pieces_max_, orders_max_;
    std::unordered_map<Key, Range> ranges_;
    std::list<Place> ages_;                        // of all pieces, the oldest first
    std::unordered_map<Key, std::string> orders_;  // last bytes of each stream
    std::uint64_t forgotten_ = 0;
};

}  // namespace dyetrace::capture
