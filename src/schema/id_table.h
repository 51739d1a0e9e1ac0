// Values by a 32-bit id, at most so many: a look-up neither allocates nor locks; when it is full, a value that was not
// asked for lately gives way (second chance: a hand goes round, a value that was used since it last passed stays).
//
//   slots  open addressing, ids hashed: [ 7→entry 2 | – | 9→entry 0 | – ]
//   ring   entries in order of arrival: [ 9 … | 4 … | 7 … ]   ▲ hand
//
// Entries are made once and reused; pointers stay valid until the next insert.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/check.h"

namespace dyetrace::schema {

template <typename Value>
class IdTable {
  public:
    // `entries_max` is not 0.
    explicit IdTable(std::size_t entries_max) : entries_max_(entries_max) {
        CHECK(entries_max > 0);
        slots_.assign(kSlotsMin, 0);
    }

    const Value* find(std::uint32_t id) const {
        const Entry* entry = entry_of(id);
        if (entry == nullptr) {
            return nullptr;
        }
        entry->used = true;
        return &entry->value;
    }

    // The value of an id, made from nothing if it is new.
    Value& insert(std::uint32_t id) {
        if (Entry* entry = entry_of(id)) {
            entry->used = true;
            return entry->value;
        }
        Entry& entry = entries_.size() < entries_max_ ? new_entry() : reused_entry();
        entry.id = id;
        entry.used = false;
        slots_[free_slot(id)] = entry.number;
        return entry.value;
    }

    std::size_t size() const { return entries_.size(); }
    std::uint64_t dropped() const { return dropped_; }

  private:
    static constexpr std::size_t kSlotsMin = 64;

    struct Entry {
        std::uint32_t id = 0;
        std::uint32_t number = 0;  // position in entries_, from 1
        mutable bool used = false;
        Value value{};
    };

    std::size_t home(std::uint32_t id) const { return (id * 0x9e3779b1u) & (slots_.size() - 1); }
    std::size_t next(std::size_t slot) const { return (slot + 1) & (slots_.size() - 1); }

    Entry* entry_of(std::uint32_t id) const {
        for (std::size_t slot = home(id); slots_[slot] != 0; slot = next(slot)) {
            if (entries_[slots_[slot] - 1]->id == id) {
                return entries_[slots_[slot] - 1].get();
            }
        }
        return nullptr;
    }

    std::size_t free_slot(std::uint32_t id) const {
        std::size_t slot = home(id);
        while (slots_[slot] != 0) {
            slot = next(slot);
        }
        return slot;
    }

    Entry& new_entry() {
        if ((entries_.size() + 1) * 2 > slots_.size()) {
            slots_.assign(slots_.size() * 2, 0);
            for (const auto& entry : entries_) {
                slots_[free_slot(entry->id)] = entry->number;
            }
        }
        entries_.push_back(std::make_unique<Entry>());
        entries_.back()->number = static_cast<std::uint32_t>(entries_.size());
        return *entries_.back();
    }

    Entry& reused_entry() {
        while (entries_[hand_]->used) {
            entries_[hand_]->used = false;
            hand_ = (hand_ + 1) % entries_.size();
        }
        Entry& entry = *entries_[hand_];
        hand_ = (hand_ + 1) % entries_.size();
        erase_slot(entry.id);
        entry.value = Value{};
        dropped_ += 1;
        return entry;
    }

    // Frees the id's slot and moves up what was pushed past it.
    void erase_slot(std::uint32_t id) {
        std::size_t hole = home(id);
        while (entries_[slots_[hole] - 1]->id != id) {
            hole = next(hole);
        }
        for (std::size_t slot = next(hole); slots_[slot] != 0; slot = next(slot)) {
            const std::size_t wanted = home(entries_[slots_[slot] - 1]->id);
            if (((slot - wanted) & (slots_.size() - 1)) >= ((slot - hole) & (slots_.size() - 1))) {
                slots_[hole] = slots_[slot];
                hole = slot;
            }
        }
        slots_[hole] = 0;
    }

    std::size_t entries_max_;
    std::vector<std::uint32_t>
        slots_;  // number of an entry, 0: free; at most half full; a power of two
    std::vector<std::unique_ptr<Entry>> entries_;
    std::size_t hand_ = 0;
    std::uint64_t dropped_ = 0;
};

}  // namespace dyetrace::schema
