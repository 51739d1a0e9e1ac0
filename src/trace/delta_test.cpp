#include "trace/delta.h"

#include <gtest/gtest.h>

#include <random>

#include "schema/record_builder.h"
#include "trace/synthetic_records.h"

namespace dyetrace::trace {
namespace {

using Bytes = std::vector<std::byte>;

Bytes encoded(std::span<const std::byte> raw) {
    Bytes buffer;
    buffer.resize(encode_delta(raw, buffer));
    return buffer;
}

void append(Bytes& to, schema::RecordBytes record) {
    to.insert(to.end(), record.begin(), record.end());
}

// Records of any type and size, with words that are like those before, or not.
Bytes random_records(std::mt19937_64& random, std::size_t count) {
    Bytes bytes;
    std::uint64_t like = random();
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t words = 2 + random() % (random() % 8 == 0 ? 600 : 30);
        std::vector<std::uint64_t> record(words);
        for (std::uint64_t& word : record) {
            like = random() % 20 == 0 ? random() : like + random() % 3 - 1;
            word = random() % 3 == 0 ? 0 : like;
        }
        const schema::RecordHeader header{static_cast<std::uint32_t>(words * 8),
                                          static_cast<schema::RecordId>(1 + random() % 12),
                                          0,
                                          random()};
        std::memcpy(record.data(), &header, sizeof(header));
        append(bytes, std::as_bytes(std::span(record)));
    }
    return bytes;
}

TEST(Delta, gives_back_any_records) {
    constexpr std::uint64_t kSeed = 51;
    std::mt19937_64 random(kSeed);
    for (int round = 0; round < 200; ++round) {
        const Bytes raw = random_records(random, random() % 60);
        const Bytes delta = encoded(raw);
        ASSERT_LE(delta.size(), delta_size_max(raw.size()));
        Bytes back(raw.size());
        ASSERT_TRUE(decode_delta(delta, back).ok()) << "seed " << kSeed << ", round " << round;
        ASSERT_EQ(back, raw) << "seed " << kSeed << ", round " << round;
    }
}

TEST(Delta, of_a_loop_of_calls_is_small) {
    SyntheticRecords synthetic;
    const Bytes raw = synthetic.events(0, 1000);
    EXPECT_LT(encoded(raw).size(), raw.size() / 4);
}

TEST(Delta, refuses_what_is_no_record) {
    Bytes raw = SyntheticRecords().events(0, 10);
    raw.resize(raw.size() - 8);
    Bytes buffer;
    EXPECT_EQ(encode_delta(raw, buffer), 0u);
}

TEST(Delta, of_damaged_bytes_gives_an_error_or_other_words_and_nothing_worse) {
    constexpr std::uint64_t kSeed = 52;
    std::mt19937_64 random(kSeed);
    const Bytes raw = random_records(random, 40);
    const Bytes delta = encoded(raw);
    int refused = 0;
    for (int round = 0; round < 4000; ++round) {
        Bytes damaged = delta;
        damaged[random() % damaged.size()] ^= static_cast<std::byte>(1 + random() % 255);
        if (round % 4 == 0) {
            damaged.resize(random() % damaged.size());
        }
        Bytes back(raw.size() - (round % 5 == 0 ? 8 : 0));
        refused += decode_delta(damaged, back).ok() ? 0 : 1;
    }
    EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace dyetrace::trace
