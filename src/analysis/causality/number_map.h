// Numbers by number, for millions of them: open addressing with linear probing, 16 bytes a slot, at most two thirds full.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace dyetrace::analysis {

class NumberMap {
  public:
    NumberMap() : slots_(kSlotsMin) {}

    // The value of a key, 0 if it is new. A key is below 2^64 − 1. Valid until the next call.
    std::uint64_t& operator[](std::uint64_t key) {
        if ((size_ + 1) * 3 > slots_.size() * 2) {
            grow();
        }
        Slot& slot = slots_[slot_of(key)];
        if (slot.key_and_one == 0) {
            slot.key_and_one = key + 1;
            ++size_;
        }
        return slot.value;
    }

    // Takes it out.
    std::optional<std::uint64_t> remove(std::uint64_t key) {
        std::size_t hole = slot_of(key);
        if (slots_[hole].key_and_one == 0) {
            return std::nullopt;
        }
        const std::uint64_t value = slots_[hole].value;
        --size_;
        for (std::size_t at = next(hole); slots_[at].key_and_one != 0; at = next(at)) {
            const std::size_t home = home_of(slots_[at].key_and_one - 1);
            if (((at - home) & (slots_.size() - 1)) >= ((at - hole) & (slots_.size() - 1))) {
                slots_[hole] = slots_[at];  // it may stand as far forward as there
                hole = at;
            }
        }
        slots_[hole] = {};
        return value;
    }

    std::size_t size() const { return size_; }

  private:
    static constexpr std::size_t kSlotsMin = 64;  // a power of two, always

    struct Slot {
        std::uint64_t key_and_one = 0;  // 0: free
        std::uint64_t value = 0;
    };

    std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
    // Fibonacci hashing: the high bits of the product depend on all bits of the key and lay counted keys far apart.
    std::size_t home_of(std::uint64_t key) const { return (key * 0x9e3779b97f4a7c15) >> shift_; }
    std::size_t slot_of(std::uint64_t key) const {
        std::size_t at = home_of(key);
        while (slots_[at].key_and_one != 0 && slots_[at].key_and_one != key + 1) {
            at = next(at);
        }
        return at;
    }
    void grow() {
        std::vector<Slot> before(slots_.size() * 2);
        before.swap(slots_);
        --shift_;
        for (const Slot& slot : before) {
            if (slot.key_and_one != 0) {
                slots_[slot_of(slot.key_and_one - 1)] = slot;
            }
        }
    }

    std::vector<Slot> slots_;
    int shift_ = 64 - std::countr_zero(kSlotsMin);  // leaves as many bits as number a slot
    std::size_t size_ = 0;
};

}  // namespace dyetrace::analysis
