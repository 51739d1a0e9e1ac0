#include "content/content_key.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace dyetrace::content {
namespace {

constexpr char kDigits[] = "000102030405060708090a0b0c0d0e0f";
constexpr std::uint64_t kLow = 0x0706050403020100, kHigh = 0x0f0e0d0c0b0a0908;

void expect_key(const std::string& text) {
    const auto key = content_key(text);
    ASSERT_TRUE(key.ok()) << text;
    EXPECT_EQ(key.value().half[0], kLow) << text;
    EXPECT_EQ(key.value().half[1], kHigh) << text;
}

TEST(ContentKey, is_digits_or_a_file) {
    const auto folder = base::TemporaryFolder::make();
    const std::string path = folder.value().path() + "/key";
    expect_key(std::string("hex:") + kDigits);
    base::write_file_atomically(path, std::string(kDigits) + "\n").value();
    expect_key("@" + path);
    std::string bytes;
    for (char byte = 0; byte < 16; ++byte) {
        bytes.push_back(byte);
    }
    base::write_file_atomically(path, bytes).value();
    expect_key("@" + path);
}

TEST(ContentKey, of_another_length_is_refused) {
    for (const char* text :
         {"", "hex:", "hex:0102", "secret", "hex:zz0102030405060708090a0b0c0d0e0f"}) {
        EXPECT_FALSE(content_key(text).ok()) << text;
    }
    EXPECT_FALSE(content_key("@/none").ok());
}

}  // namespace
}  // namespace dyetrace::content
