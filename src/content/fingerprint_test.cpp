#include "content/fingerprint.h"

#include <gtest/gtest.h>

#include <string_view>

#include "content/keyed.h"

namespace dyetrace::content {
namespace {

std::uint64_t of(std::string_view text, const std::optional<ContentKey>& key = std::nullopt) {
    return fingerprint(std::as_bytes(std::span(text)), key);
}

// The values are of the specification of xxHash, and of `xxh64sum`.
TEST(Fingerprint, is_xxh64) {
    EXPECT_EQ(of(""), 0xef46db3751d8e999u);
    EXPECT_EQ(of("a"), 0xd24ec4f1a98c6e5bu);
    EXPECT_EQ(of("abc"), 0x44bc2cf5ad770999u);
}

TEST(Fingerprint, may_be_added_piece_by_piece) {
    const std::string_view text =
        "a text of more than thirty-two bytes, so that the lanes are used";
    Fingerprint pieces;
    for (const char& letter : text) {
        pieces.add(std::as_bytes(std::span(&letter, 1)));
    }
    EXPECT_EQ(pieces.value(), of(text));
}

// The authors' vector for the message 00 01 … 07 and the key 00 01 … 0f.
TEST(Keyed, is_siphash_2_4) {
    EXPECT_EQ(keyed(0x0706050403020100u, 0x0706050403020100u, 0x0f0e0d0c0b0a0908u),
              0x93f5f5799a932462u);
}

TEST(Keyed, is_another_for_each_key) {
    EXPECT_NE(of("abc", ContentKey{{1, 2}}), of("abc", ContentKey{{1, 3}}));
    EXPECT_NE(of("abc", ContentKey{{0, 0}}), of("abc"));
    EXPECT_EQ(of("abc", ContentKey{{1, 2}}), keyed(of("abc"), 1, 2));
}

}  // namespace
}  // namespace dyetrace::content
