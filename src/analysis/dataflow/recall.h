// What processes have taken in, by content: who wrote some bytes and asks for them gets the last call that took the same bytes in,
// of those that it may have them from: its own process's, that of a process which made it, one that shares memory with it.
//
//   recall.add(read, key, taken)   …   recall.find(write, key)   ─► taken, if it ended before the write began
//
// It remembers the last kTakensEach calls of each content: the last one may be too late for who writes, a child that was made before it, or a write that is
// under way while its own reader takes the bytes out of the other end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "analysis/dataflow/ancestry.h"
#include "analysis/dataflow/operation.h"

namespace dyetrace::analysis {

struct Taken {
    std::uint64_t event = 0;
    std::uint64_t object = 0;        // out of which
    std::uint64_t begin = kUnknown;  // where the event's first byte lies in it
    std::uint64_t end_ns = 0;
    std::int64_t position = 0;  // of the content in what the event moved
    std::uint64_t bytes = 0;    // of the content
    std::uint64_t strip =
        0;  // of an anchor: to which the call belongs, and the sum up to the window's end
    std::uint64_t sum = 0;
};

inline constexpr std::size_t kTakensEach = 4;

class Recall {
  public:
    // Remembers `taken_max` of them, the last ones, and up to twice as many. `ancestry` must outlive it.
    Recall(std::size_t taken_max, const Ancestry& ancestry)
        : taken_max_(taken_max), ancestry_(&ancestry) {}

    void add(const Operation& operation, std::uint64_t key, const Taken& taken);
    std::optional<Taken> find(const Operation& operation, std::uint64_t key) const;

    std::uint64_t forgotten() const { return forgotten_; }

  private:
    struct Key {
        std::uint64_t owner;  // process, or memory that processes share
        std::uint64_t content;
        bool is_memory;
        friend bool operator==(const Key&, const Key&) = default;
    };
    struct HashOfKey {
        std::size_t operator()(const Key& key) const {
            return key.content ^ (key.owner * 2 + (key.is_memory ? 1 : 0)) * 0x9e3779b97f4a7c15u;
        }
    };
    // What was taken in of one content, the last one first.
    struct Layer {
        Taken taken;
        std::unique_ptr<Layer> before = nullptr;
    };
    struct Takens {
        std::unordered_map<Key, Layer, HashOfKey> of_key;
        std::size_t count = 0;  // of all layers
    };

    void add(const Key& key, const Taken& taken);
    std::optional<Taken> find(const Key& key,
                              const Operation& operation,
                              std::uint64_t until_ns) const;

    std::size_t taken_max_;
    const Ancestry* ancestry_;
    Takens young_, old_;
    std::uint64_t forgotten_ = 0;
};

// What the kernel copied from one object to another one did not pass through the process.
inline bool is_copy(const Operation& operation) {
    return operation.from.object != 0 && operation.to.object != 0;
}

}  // namespace dyetrace::analysis
