// Random worlds for tests: tasks, objects and events that meet, and conditions that tell them apart.
//
//   RandomCases cases(seed);
//   cases.world()       announcements: 8 tasks, 24 handles, a third of them sockets; some ids are never announced
//   cases.event()       a record of the view `events`, biased to the ids and values of that world
//   cases.condition()   SQL over all columns that conditions take, biased to the values that events have
//
// The same seed gives the same cases on every machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "schema/record_builder.h"

namespace dyetrace::filter {

// A text in a field of fixed size, cut to it, without an end of its own where it fills it.
template <std::size_t Size>
void put_text(std::uint8_t (&to)[Size], std::string_view from) {
    std::memcpy(to, from.data(), std::min(from.size(), Size));
}

class RandomCases {
  public:
    explicit RandomCases(std::uint64_t seed) : random_(seed) {}

    std::vector<schema::OwnedRecord> world();
    schema::OwnedRecord event(std::uint64_t sequence);
    schema::OwnedRecord syscall_event(std::uint64_t sequence);
    std::string condition(int depth = 3);

    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
    bool chance(unsigned percent) { return below(100) < percent; }

  private:
    static constexpr std::uint32_t kTasks = 8;

    template <typename List>
    auto pick(const List& list) {
        return list[below(list.size())];
    }

    schema::OwnedRecord task(std::uint32_t id);
    schema::OwnedRecord handle(std::uint32_t id);
    schema::OwnedRecord socket(std::uint32_t id);
    schema::OwnedRecord part_event(std::uint64_t sequence);
    schema::OwnedRecord log_event(std::uint64_t sequence);
    schema::OwnedRecord signal_event(std::uint64_t sequence);
    std::string path_bytes();
    std::string sockaddr_bytes();
    std::uint64_t number();
    std::int64_t result();

    std::string atom();
    std::string number_atom(std::string_view column);
    std::string text_atom(std::string_view column);
    std::string number_operand(std::string_view column);
    std::string number_text();
    std::string text_for(std::string_view column);
    std::string pattern_for(std::string_view column, bool glob);

    std::mt19937_64 random_;
};

}  // namespace dyetrace::filter
