#include "capture/ring.h"

#include <gtest/gtest.h>

#include <vector>

namespace dyetrace::capture {
namespace {

constexpr std::uint64_t kRingBytes = 256;
constexpr std::uint64_t kSlack = 64;

// The kernel's side, as src/kernel/helpers/emit.h does it.
struct Writer {
    std::vector<std::byte> memory = std::vector<std::byte>(kRingBytes + kSlack);
    ring_control control{};
    std::uint64_t next = 0;

    bool write(std::uint32_t size) {
        const schema::RecordHeader header{size, schema::RecordId::kGap, 0, next++};
        if (control.head - control.tail + size > kRingBytes) {
            control.lost++;
            return false;
        }
        std::memcpy(memory.data() + (control.head & (kRingBytes - 1)), &header, sizeof(header));
        control.head += size;
        return true;
    }
};

std::vector<std::uint64_t> drain(Ring& ring,
                                 std::uint64_t& damaged,
                                 std::uint64_t end = UINT64_MAX) {
    std::vector<std::uint64_t> sequences;
    ring.drain(
        end,
        [&](std::span<const std::byte> records) {
            while (!records.empty()) {
                const schema::RecordBytes record = schema::first_record(records);
                ASSERT_FALSE(record.empty());
                sequences.push_back(schema::header_of(record).sequence);
                records = records.subspan(record.size());
            }
        },
        damaged);
    return sequences;
}

// The kernel wakes who sleeps when head reaches wake_at, once for each that it is told.
TEST(Ring, asks_to_be_woken_when_a_quarter_waits_and_not_when_it_does_already) {
    Writer writer;
    Ring ring(writer.memory, kRingBytes, &writer.control);
    std::uint64_t damaged = 0;
    EXPECT_TRUE(ring.ask_to_be_woken());
    EXPECT_EQ(writer.control.wake_at, kRingBytes / 4);
    while (writer.control.head < kRingBytes / 4) {
        ASSERT_TRUE(writer.write(24));
    }
    EXPECT_FALSE(ring.ask_to_be_woken());
    drain(ring, damaged);
    EXPECT_TRUE(ring.ask_to_be_woken());
    EXPECT_EQ(writer.control.wake_at, writer.control.tail + kRingBytes / 4);
}

TEST(Ring, hands_out_every_record_once_over_many_rounds) {
    Writer writer;
    Ring ring(writer.memory, kRingBytes, &writer.control);
    std::uint64_t damaged = 0;
    std::uint64_t expected = 0;
    for (int round = 0; round < 1000; ++round) {
        for (std::uint32_t i = 0; i < 4; ++i) {
            ASSERT_TRUE(writer.write(24 + 8 * ((static_cast<std::uint32_t>(round) + i) % 5)));
        }
        for (const std::uint64_t sequence : drain(ring, damaged)) {
            EXPECT_EQ(sequence, expected++);
        }
    }
    EXPECT_EQ(expected, 4000u);
    EXPECT_EQ(damaged, 0u);
}

TEST(Ring, gives_a_record_at_the_end_whole_because_it_runs_into_the_slack) {
    Writer writer;
    Ring ring(writer.memory, kRingBytes, &writer.control);
    std::uint64_t damaged = 0;
    for (int i = 0; i < 6; ++i) {
        ASSERT_TRUE(writer.write(40));
    }
    drain(ring, damaged);
    ASSERT_TRUE(writer.write(40));  // begins at 240 of 256
    ASSERT_TRUE(writer.write(40));
    EXPECT_EQ(drain(ring, damaged), (std::vector<std::uint64_t>{6, 7}));
    EXPECT_EQ(damaged, 0u);
}

TEST(Ring, leaves_what_was_written_after_the_given_end) {
    Writer writer;
    Ring ring(writer.memory, kRingBytes, &writer.control);
    std::uint64_t damaged = 0;
    writer.write(24);
    const std::uint64_t end = ring.head();
    writer.write(24);
    EXPECT_EQ(drain(ring, damaged, end), std::vector<std::uint64_t>{0});
    EXPECT_EQ(drain(ring, damaged), std::vector<std::uint64_t>{1});
}

TEST(Ring, gives_up_what_is_no_record_and_counts_it) {
    Writer writer;
    Ring ring(writer.memory, kRingBytes, &writer.control);
    std::uint64_t damaged = 0;
    writer.write(24);
    writer.write(32);
    const std::uint32_t nonsense = 7;
    std::memcpy(writer.memory.data() + 24, &nonsense, sizeof(nonsense));
    EXPECT_EQ(drain(ring, damaged), std::vector<std::uint64_t>{0});
    EXPECT_EQ(damaged, 32u);
    writer.write(24);
    EXPECT_EQ(drain(ring, damaged), std::vector<std::uint64_t>{2});
}

}  // namespace
}  // namespace dyetrace::capture
