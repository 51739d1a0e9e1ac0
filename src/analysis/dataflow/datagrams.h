// Datagrams between hosts (UDP): nobody numbers them, any may be lost or overtake another. One that was taken is the oldest one
// that is still under way with the same ports at both ends, of the same length, with the same fingerprint.
//
//   sent    A "x"  B "y"  C "x" ──►   taken   R "y"  S "x"       flows  B ─► R   A ─► S     left  C
//
// Without fingerprints equal lengths have to do, and then a flow is only possible. Either may be told first: the clocks of two
// hosts need not agree. What nobody takes waits until kDatagramsWaitingMax others do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "analysis/dataflow/flow.h"
#include "analysis/dataflow/operation.h"

namespace dyetrace::analysis {

// Some seconds of a busy name server, whose other ends are not watched; 150 bytes each.
inline constexpr std::size_t kDatagramsWaitingMax = 65'536;

class Datagrams {
  public:
    // Ports are side.other: of the sender << 16 | of the receiver; 0: not known, and nothing is found.
    void sent(const Operation& operation, Act act, std::vector<Flow>& flows);
    void taken(const Operation& operation, Act act, std::vector<Flow>& flows);

    std::uint64_t forgotten() const { return forgotten_; }

  private:
    struct Key {
        std::uint64_t ports, bytes, fingerprint;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const;
    };
    // Of one key at most one side waits for the other.
    struct Waiting {
        std::deque<Act> acts;
        bool are_sent = false;
    };

    static Key key_of(const Operation& operation, const Side& side);
    // The oldest of the other side, whose flow is added; if there is none, this act waits.
    void meet(const Key& key, const Act& act, bool is_sent, bool peeks, std::vector<Flow>& flows);
    void wait(const Key& key, const Act& act, bool is_sent);

    std::unordered_map<Key, Waiting, KeyHash> waiting_;
    std::deque<Key> order_;  // in which they began to wait; some have been taken since
    std::uint64_t forgotten_ = 0;
};

}  // namespace dyetrace::analysis
