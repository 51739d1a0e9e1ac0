#include "trace/payload_file.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace dyetrace::trace {
namespace {

using Key = std::tuple<std::uint16_t, std::uint64_t, std::uint64_t>;  // cpu, sequence, position
using Entries = std::map<Key, std::string>;

class PayloadFile : public testing::Test {
  protected:
    std::string bytes_of_size(std::size_t size) {
        std::string bytes(size, '\0');
        for (char& byte : bytes) {
            byte = static_cast<char>(random_());
        }
        return bytes;
    }

    Entries write(std::size_t entries, const PayloadTotals& totals) {
        Entries out;
        PayloadWriter writer = PayloadWriter::create(folder_.path()).value();
        for (std::size_t i = 0; i < entries; ++i) {
            const Key key{static_cast<std::uint16_t>(i % 3), i, 100 * i};
            const std::string& bytes = out[key] = bytes_of_size(random_() % 70'000);
            writer.add(std::get<0>(key), i, 100 * i, base::bytes_of(bytes)).value();
        }
        writer.close(totals).value();
        return out;
    }

    Entries read(PayloadReader& reader) {
        std::vector<std::pair<Key, PayloadPlace>> places;
        reader
            .scan([&](const PayloadEntry& entry, const PayloadPlace& place) {
                places.emplace_back(Key{entry.cpu, entry.sequence, entry.position}, place);
            })
            .value();
        std::shuffle(places.begin(), places.end(), random_);
        Entries out;
        for (const auto& [key, place] : places) {
            out[key] = base::text_of(reader.bytes_at(place).value());
        }
        return out;
    }

    std::string content() {
        return base::read_file(payload_path(folder_.path()), 1u << 30).value();
    }
    void replace(const std::string& content) {
        base::write_file_atomically(payload_path(folder_.path()), content).value();
    }

    base::TemporaryFolder folder_ = base::TemporaryFolder::make().value();
    std::mt19937 random_{1};
};

TEST_F(PayloadFile, gives_back_what_was_written_in_any_order) {
    const Entries written = write(200, {.generated = 7, .kept = 4, .lost = 3});
    PayloadReader reader = PayloadReader::open(folder_.path()).value();
    EXPECT_EQ(read(reader), written);
    EXPECT_EQ(reader.damaged_blocks(), 0u);
    ASSERT_TRUE(reader.totals());
    EXPECT_EQ(reader.totals()->kept, 4u);
    EXPECT_EQ(reader.totals()->lost, 3u);
}

TEST_F(PayloadFile, costs_one_block_where_a_bit_is_flipped) {
    const Entries written = write(200, {});
    std::string damaged = content();
    damaged[damaged.size() / 2] ^= 1;
    replace(damaged);
    PayloadReader reader = PayloadReader::open(folder_.path()).value();
    const Entries back = read(reader);
    EXPECT_LT(back.size(), written.size());
    EXPECT_GT(back.size(), written.size() * 3 / 4);
    EXPECT_TRUE(std::all_of(back.begin(), back.end(), [&](const auto& entry) {
        return written.at(entry.first) == entry.second;
    }));
    EXPECT_EQ(reader.damaged_blocks(), 1u);
}

TEST_F(PayloadFile, is_found_again_after_a_damaged_header) {
    const Entries written = write(200, {});
    std::string damaged = content();
    damaged[sizeof(PayloadHeader)] ^= 1;  // of the first block's magic
    replace(damaged);
    PayloadReader reader = PayloadReader::open(folder_.path()).value();
    EXPECT_GT(read(reader).size(), written.size() * 3 / 4);
    EXPECT_EQ(reader.damaged_blocks(), 1u);
}

TEST_F(PayloadFile, cut_anywhere_gives_the_blocks_before) {
    const Entries written = write(60, {});
    const std::string whole = content();
    for (std::size_t size = sizeof(PayloadHeader); size < whole.size(); size += 9973) {
        replace(whole.substr(0, size));
        PayloadReader reader = PayloadReader::open(folder_.path()).value();
        for (const auto& [key, bytes] : read(reader)) {
            ASSERT_EQ(written.at(key), bytes) << size;
        }
        EXPECT_FALSE(reader.totals());
    }
}

TEST_F(PayloadFile, that_is_none_is_refused) {
    EXPECT_EQ(PayloadReader::open(folder_.path()).error().code(), ErrorCode::kNotFound);
    replace("dyepaylo and then nothing that makes sense, for 32 bytes and more");
    EXPECT_EQ(PayloadReader::open(folder_.path()).error().code(), ErrorCode::kCorrupt);
    replace("");
    EXPECT_EQ(PayloadReader::open(folder_.path()).error().code(), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace dyetrace::trace
