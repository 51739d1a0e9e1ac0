#include "content/content_sum.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace dyetrace::content {
namespace {

std::uint64_t sum_of(std::string_view bytes) {
    return content_sum(std::as_bytes(std::span(bytes)));
}

TEST(ContentSum, is_the_number_modulo_both_primes) {
    EXPECT_EQ(sum_of(""), 0u);
    EXPECT_EQ(sum_of("A"), 0x41ull << 32 | 0x41);
    // 0x01'00000000 = 2^32
    EXPECT_EQ(sum_of(std::string_view("\x01\0\0\0\0", 5)), 5ull << 32 | 17);
    // 0xffffffff is 4 above one prime, and 16 above the other one
    EXPECT_EQ(sum_of("\xff\xff\xff\xff"), 4ull << 32 | 16);
}

TEST(ContentSum, of_a_whole_follows_from_its_parts_and_the_other_way_round) {
    std::mt19937 random(1);
    std::string bytes(1000, 0);
    for (char& byte : bytes) {
        byte = static_cast<char>(random());
    }
    for (const std::size_t cut : {0u, 1u, 3u, 4u, 500u, 999u, 1000u}) {
        const std::string front = bytes.substr(0, cut), back = bytes.substr(cut);
        EXPECT_EQ(joined_sum(sum_of(front), sum_of(back), back.size()), sum_of(bytes)) << cut;
        EXPECT_EQ(sum_of_rest(sum_of(bytes), sum_of(front), back.size()), sum_of(back)) << cut;
    }
}

TEST(ContentSum, tells_every_flip_of_a_bit_and_bytes_in_another_order) {
    const std::string bytes(300, 'x');
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        std::string changed = bytes;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
        EXPECT_NE(sum_of(changed), sum_of(bytes)) << bit;
    }
    EXPECT_NE(sum_of("abcdefgh12345678"), sum_of("12345678abcdefgh"));
}

}  // namespace
}  // namespace dyetrace::content
