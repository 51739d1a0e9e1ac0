// Datagrams between hosts (UDP): nobody numbers them, any may be lost or overtake another. One that was taken is the oldest one
// that is still under way with the same ports at both ends, addresses that agree where they are known, the same length and fingerprint.
//
//   sent    A "x"  B "y"  C "x" ──►   taken   R "y"  S "x"       flows  B ─► R   A ─► S     left  C
//
// Without fingerprints equal lengths have to do, and then a flow is only possible. Either may be told first: the clocks of two
// hosts need not agree. So the n-th of its kind that one socket took is not taken for one that was
// sent after the n-th: whichever it really was, the flow's sender had begun before the receiver
// ended, if one thread sent them all, to this receiver alone. (The causal order stands on that.)
//
// What nobody takes waits until kDatagramsWaitingMax others do. Once a sent one was forgotten,
// nothing more is said of its kind: what is taken may be it.
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
// Waiting ones of one kind that are looked at for addresses that agree.
inline constexpr std::size_t kDatagramsLookedAtMax = 256;

class Datagrams {
  public:
    // Ports are side.other: of the sender << 16 | of the receiver; 0: not known, and nothing is found.
    void sent(const Operation& operation, Act act, std::vector<Flow>& flows);
    void taken(const Operation& operation, Act act, std::vector<Flow>& flows);

    // That were not waited for, or of whose kind one was forgotten.
    std::uint64_t forgotten() const { return forgotten_; }

  private:
    struct Key {
        std::uint64_t ports, bytes, fingerprint;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const;
    };
    struct Datagram {
        Act act;
        std::uint32_t sender, receiver;  // addresses; 0: not known
        bool agrees_with(const Datagram& other) const;
    };
    // Oldest first. Most kinds have one that waits: no more than a vector.
    class Queue {
      public:
        bool empty() const { return first_ == datagrams_.size(); }
        void push(const Datagram& datagram) { datagrams_.push_back(datagram); }
        // Among the first kDatagramsLookedAtMax; nullptr: there is none.
        const Datagram* find(const Datagram& other) const;
        void erase(const Datagram* datagram);  // as find() gave it
        void pop() { erase(datagrams_.data() + first_); }

      private:
        std::vector<Datagram> datagrams_;
        std::size_t first_ = 0;  // those before it have gone
    };
    struct Waiting {
        Queue sent, taken;
        bool empty() const { return sent.empty() && taken.empty(); }
    };
    struct Place {
        Key key;
        bool is_sent;
    };

    static Key key_of(const Operation& operation, const Side& side);
    // The oldest of the other side, whose flow is added; if there is none, this one waits.
    void meet(const Key& key,
              const Datagram& datagram,
              bool is_sent,
              bool peeks,
              std::vector<Flow>& flows);
    void wait(const Key& key, const Datagram& datagram, bool is_sent);
    void forget_oldest();
    bool is_spoilt(const Key& key) const;

    std::unordered_map<Key, Waiting, KeyHash> waiting_;
    std::deque<Place> order_;   // in which they began to wait; some have been taken since
    std::vector<bool> spoilt_;  // by hash of the key: a sent one was forgotten; empty: none
    std::uint64_t forgotten_ = 0;
};

}  // namespace dyetrace::analysis
