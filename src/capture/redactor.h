// Redacts payload before it reaches the disk, across the borders of calls too.
//
//   lane        … 4 9 2 9 1 2 3 | 4 5 6 7 …        a secret of 7 bytes over two pieces
//   held        ········^^^^^^    ^^^^^^            what could be part of a match that nobody has seen whole waits
//   sink        * for each byte of a match
//
// A byte is decided once it is known what stands on both sides of it for as long as a match may be, or that nothing can:
// then it goes to the sink. What waits at the end has no neighbour and is decided too. Pieces of a lane may come in any
// order and again (a file that is read twice). When bytes that wait are seen with another content, or too many wait, they
// are withheld: they never reach the sink. So nothing that a match could still need is given out.
//
// What goes from one object to another (sendfile, splice, copy_file_range) has neighbours in both, and only those in one are
// known here: its both ends are withheld.
//
// Where a match was found is remembered: what is read there again, from its middle on for instance, is hidden too.
//
// Pieces with the same bytes at the same place (a block that is written over and over) wait as one.
//
// Limits: kHeldMax pieces wait; kMatchesMax places of matches are remembered. What was decided stays so: a secret whose one half is written to a file next to the other
// half only after that was decided beside something else (one half overwritten) is redacted from there on. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "capture/payload_join.h"
#include "capture/secrets.h"

namespace dyetrace::capture {

class Redactor {
  public:
    static constexpr std::size_t kHeldMax =
        100'000;  // shorter than a match: 60 MB with regular expressions
    static constexpr std::size_t kMatchesMax = 1u << 20;  // 100 MB
    static constexpr std::size_t kLanesMax =
        1u << 20;  // without places of their own: 80 MB; what moves on further ones is withheld

    // Payload without its place: bytes of matches are '*'.
    using Sink = std::function<void(const Payload&)>;

    Redactor(Secrets secrets, Sink sink, std::size_t held_max = kHeldMax);

    // Where the lane has no places of its own, behind what came last.
    void take(Payload payload);
    // Nothing more comes. What waits beside bytes that were moved and not seen is withheld; all of it, unless everything
    // was seen.
    void finish(bool saw_everything = true);

    std::uint64_t withheld_bytes() const { return withheld_; }
    std::uint64_t redacted_bytes() const { return redacted_; }

  private:
    struct Held {
        Payload payload;            // as it is
        std::vector<bool> hidden;   // by byte: part of a match
        std::vector<Payload> also;  // others at the same place with the same bytes, without these
        std::uint64_t number = 0;   // age
        bool knows_left = false, knows_right = false;

        std::uint64_t begin() const { return *payload.place; }
        std::uint64_t end() const { return begin() + payload.bytes.size(); }
    };
    using Key = std::pair<Lane, std::uint64_t>;  // lane, first place
    using Waiting = std::multimap<Key, Held>;

    // The new piece with what is known on both sides of it.
    struct Window {
        std::uint64_t begin = 0;
        std::vector<std::byte> bytes;
        std::uint64_t end() const { return begin + bytes.size(); }
    };

    bool find_place(Payload& payload);
    Window window_of(const Payload& payload) const;
    void add_left(Window& window, const Payload& payload) const;
    void add_right(Window& window, const Payload& payload) const;
    void settle_neighbours(const Lane& lane, const Window& window);
    bool agrees(const Held& held, const Window& window) const;
    void learn_sides(Held& held, const Window& window) const;
    void show(Held& held) const;
    void split(Payload payload, const Window& window);
    void find_matches(const Lane& lane, const Window& window);
    void remember(const Lane& lane, std::uint64_t from, std::uint64_t to);
    void keep_or_give(Held held);
    void give(Held held);
    void give_one(const Payload& payload);
    bool join_equal(Held& held);
    void withhold(const Held& held);
    void withhold_oldest();
    Key nearest(const Lane& lane, std::uint64_t place) const;

    Secrets secrets_;
    Sink sink_;
    std::size_t held_max_;
    std::uint64_t reach_;  // bytes on one side of a byte that decide about it
    Waiting waiting_;
    std::map<std::uint64_t, Waiting::iterator> by_age_;
    std::map<Lane, std::uint64_t> next_places_;  // of lanes without places of their own
    std::vector<std::pair<std::uint64_t, std::uint64_t>> matches_;  // in the window, as places
    std::map<Key, std::uint64_t> remembered_;                       // to: places of former matches
    std::deque<Key> remembered_by_age_;
    std::size_t waiting_pieces_ = 0;
    std::uint64_t numbers_ = 0, withheld_ = 0, redacted_ = 0;
};

}  // namespace dyetrace::capture
