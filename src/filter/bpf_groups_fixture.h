// Maps of groups for tests that let generated programs count.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "filter/bpf_fixture.h"
#include "filter/bpf_grouping.h"
#include "filter/grouping.h"

namespace dyetrace::filter::fixture {

inline int create_map(
    bpf_map_type type, std::size_t key, std::size_t value, std::uint32_t entries, int inner = 0) {
    bpf_attr attr{};
    attr.map_type = type;
    attr.key_size = static_cast<std::uint32_t>(key);
    attr.value_size = static_cast<std::uint32_t>(value);
    attr.max_entries = entries;
    attr.inner_map_fd = static_cast<std::uint32_t>(inner);
    return bpf(BPF_MAP_CREATE, attr);
}

// What the map holds goes into the table.
inline void take(int map, const BpfGrouping& program, GroupTable& into) {
    std::vector<std::byte> key(program.key_bytes()), value(program.value_bytes());
    bpf_attr next{};
    next.map_fd = static_cast<std::uint32_t>(map);
    next.next_key = address_of(key.data());
    while (bpf(BPF_MAP_GET_NEXT_KEY, next) == 0) {
        bpf_attr look{};
        look.map_fd = static_cast<std::uint32_t>(map);
        look.key = address_of(key.data());
        look.value = address_of(value.data());
        ASSERT_EQ(bpf(BPF_MAP_LOOKUP_ELEM, look), 0);
        into.merge(program.key(key), program.partials(value));
        next.key = address_of(key.data());
    }
}

}  // namespace dyetrace::filter::fixture
