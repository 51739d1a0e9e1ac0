// Redacts payload before it reaches the disk, across the borders of calls too.
//
//   lane        … 4 9 2 9 1 2 3 | 4 5 6 7 …        a secret of 7 bytes over two pieces
//   held        ········^^^^^^    ^^^^^^            what could be part of a match that nobody has seen whole waits
//   sink        * for each byte of a match
//
// A byte is decided once it is known what stands on both sides of it for as long as a match may be: then it goes to the sink.
// Pieces of a lane may come in any order and again (a file that is read twice). What is never seen whole errs on the safe side:
//
//   file        4 9 2 9 | ?                          the call beside it was lost, left out, not watched, or is still to come
//   sink        * * * *                              because it could be the begin of a secret
//
// So it goes with what waits at the end, or while more than kHeldBytesMax wait, or where something else stands now; and with
// both ends of what has no place in a lane, which goes on at once.
//
// Where a match was found is remembered: what is read there again, from its middle on for instance, is hidden too.
//
// Pieces with the same bytes at the same place (a block that is written over and over) wait as one.
//
// Limits: kHeldBytesMax wait; kMatchesMax places of matches are remembered. What was decided stays so, and what waits is decided
// by what comes to stand beside it: where a file is written over, half of a secret may have stood beside something else before
// or after. No more than Secrets::kJoinedBytesMax bytes are known of a match that crosses a border
// of calls. One thread.
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
    static constexpr std::size_t kHeldBytesMax = 64u << 20;  // with what is noted of each piece
    static constexpr std::size_t kMatchesMax = 1u << 20;     // 100 MB

    // Payload without its place: bytes of matches are '*'.
    using Sink = std::function<void(const Payload&)>;

    Redactor(Secrets secrets, Sink sink, std::size_t held_bytes_max = kHeldBytesMax);

    void take(Payload payload);
    // Nothing more comes.
    void finish();

    // Those that could have been part of a match too.
    std::uint64_t redacted_bytes() const { return redacted_; }

  private:
    struct Held {
        Payload payload;            // as it is
        std::vector<bool> hidden;   // by byte: part of a match; empty: none is
        std::vector<Payload> also;  // others at the same place with the same bytes, without these
        std::uint64_t number = 0;   // age
        bool knows_left = false, knows_right = false;

        std::uint64_t begin() const { return *payload.place; }
        std::uint64_t end() const { return begin() + payload.bytes.size(); }
    };
    using Key = std::pair<Lane, std::uint64_t>;  // lane, first place
    using Waiting = std::multimap<Key, Held>;

    // What waits of a range, the youngest on top; number 0: nothing.
    struct Known {
        std::vector<std::byte> bytes;
        std::vector<std::uint64_t> numbers;
    };
    // The new piece with what is known on both sides of it.
    struct Window {
        std::uint64_t begin = 0;
        std::vector<std::byte> bytes;
        std::uint64_t end() const { return begin + bytes.size(); }
    };

    void give_at_once(Payload payload);
    Window window_of(const Payload& payload) const;
    Known known(const Lane& lane, std::uint64_t from, std::uint64_t to) const;
    void settle_neighbours(const Lane& lane, const Window& window);
    bool agrees(const Held& held, const Window& window) const;
    void learn_sides(Held& held, const Window& window) const;
    static void show(Held& held, std::uint64_t match_from, std::uint64_t match_to);
    void show_matches(Held& held) const;
    void doubt(Held& held) const;
    Waiting::iterator doubt_run(Waiting::iterator first);
    void split(const Payload& payload, const Window& window);
    void find_matches(const Lane& lane, const Window& window);
    void remember(const Lane& lane, std::uint64_t from, std::uint64_t to);
    void keep_or_give(Held held);
    void give(Held held);
    bool join_equal(Held& held);
    void give_oldest();
    void doubt_beside(const Held& going);
    void stop_waiting(Held& held);
    static std::size_t held_bytes(const Payload& payload);
    Key nearest(const Lane& lane, std::uint64_t place) const;

    Secrets secrets_;
    Sink sink_;
    std::size_t held_bytes_max_;
    std::uint64_t reach_;  // bytes on one side of a byte that decide about it
    Waiting waiting_;
    std::map<std::uint64_t, Waiting::iterator> by_age_;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> matches_;  // in the window, as places
    std::map<Key, std::uint64_t> remembered_;                       // to: places of former matches
    std::deque<Key> remembered_by_age_;
    std::size_t waiting_bytes_ = 0;
    std::uint64_t numbers_ = 0, redacted_ = 0;
};

}  // namespace dyetrace::capture
