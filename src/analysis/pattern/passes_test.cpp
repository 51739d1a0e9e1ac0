#include "analysis/pattern/passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace dyetrace::analysis {
namespace {

// A file of records, fixed or variable in size, and readers that take them in one order or another.
class RecordFile {
  public:
    explicit RecordFile(std::vector<std::uint64_t> sizes, std::uint32_t number = 0)
        : sizes_(std::move(sizes)), number_(number) {
        for (std::uint64_t at = 0; const std::uint64_t size : sizes_) {
            begins_.push_back(at);
            at += size;
        }
    }
    static RecordFile fixed(std::size_t records, std::uint32_t number = 0) {
        return RecordFile(std::vector<std::uint64_t>(records, 4096), number);
    }
    static RecordFile variable(std::size_t records, unsigned seed) {
        std::mt19937 random(seed);
        std::vector<std::uint64_t> sizes;
        for (std::size_t i = 0; i < records; ++i) {
            sizes.push_back(20 + random() % 1000);
        }
        return RecordFile(std::move(sizes));
    }

    std::vector<std::size_t> order() const {
        std::vector<std::size_t> out(sizes_.size());
        std::iota(out.begin(), out.end(), 0u);
        return out;
    }
    std::vector<std::size_t> shuffled(unsigned seed) const {
        auto out = order();
        std::shuffle(out.begin(), out.end(), std::mt19937(seed));
        return out;
    }

    Access record(std::size_t record) const {
        return {.offset = begins_[record],
                .bytes = sizes_[record],
                .fingerprint = 1000 * (record + 1),
                .file = number_};
    }
    void read(std::vector<Access>& out, const std::vector<std::size_t>& order) const {
        for (const std::size_t number : order) {
            out.push_back(record(number));
        }
    }
    // First its length in 8 bytes, then the rest.
    void read_with_lengths(std::vector<Access>& out, const std::vector<std::size_t>& order) const {
        for (const std::size_t number : order) {
            const Access whole = record(number);
            out.push_back({.offset = whole.offset, .bytes = 8, .fingerprint = whole.bytes});
            out.push_back({.offset = whole.offset + 8,
                           .bytes = whole.bytes - 8,
                           .fingerprint = whole.fingerprint});
        }
    }

  private:
    std::vector<std::uint64_t> sizes_, begins_;
    std::uint32_t number_;
};

Order order_of_last(const Passes& passes) {
    return order_of(passes.passes.back().beside_previous->pieces);
}

TEST(Passes, in_the_same_order) {
    const RecordFile file = RecordFile::fixed(100);
    std::vector<Access> reads;
    file.read(reads, file.order());
    file.read(reads, file.order());
    const Passes found = passes_of(reads);
    ASSERT_EQ(found.passes.size(), 2u);
    EXPECT_EQ(found.passes[1].first, 100u);
    EXPECT_EQ(found.passes[1].accesses, 100u);
    EXPECT_EQ(found.passes[1].distinct_bytes, 100u * 4096);
    EXPECT_EQ(found.passes[0].beside_previous, std::nullopt);
    EXPECT_EQ(order_of_last(found), Order::kSame);
    EXPECT_EQ(found.passes[1].beside_previous->common_bytes, 100u * 4096);
}

TEST(Passes, shuffled_anew_each_time_are_found_where_they_begin) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        const RecordFile file = RecordFile::variable(300, seed);
        std::vector<Access> reads;
        for (unsigned epoch = 0; epoch < 5; ++epoch) {
            file.read(reads, file.shuffled(100 * seed + epoch));
        }
        const Passes found = passes_of(reads);
        ASSERT_EQ(found.passes.size(), 5u) << seed;
        for (std::size_t epoch = 0; epoch < 5; ++epoch) {
            ASSERT_EQ(found.passes[epoch].first, 300 * epoch) << seed;
        }
        EXPECT_EQ(order_of_last(found), Order::kShuffled) << seed;
    }
}

TEST(Passes, over_records_with_a_length_in_front_stay_together_in_pairs) {
    const RecordFile file = RecordFile::variable(200, 1);
    std::vector<Access> reads;
    file.read_with_lengths(reads, file.shuffled(1));
    file.read_with_lengths(reads, file.shuffled(2));
    const Passes found = passes_of(reads);
    ASSERT_EQ(found.passes.size(), 2u);
    EXPECT_EQ(found.passes[1].first, 400u);
    const Permutation pieces = found.passes[1].beside_previous->pieces;
    EXPECT_EQ(order_of(pieces), Order::kBlockShuffled);
    EXPECT_NEAR(pieces.block_items(), 2, 0.1);
    EXPECT_NEAR(pieces.distance(), 0.5, 0.1);
}

TEST(Passes, with_other_sizes_of_reads_are_compared_by_their_bytes) {
    std::vector<Access> reads;
    for (std::uint64_t i = 0; i < 64; ++i) {
        reads.push_back({.offset = i * 1000, .bytes = 1000});
    }
    for (std::uint64_t i = 0; i < 16; ++i) {
        reads.push_back({.offset = i * 4000, .bytes = 4000});
    }
    const Passes found = passes_of(reads);
    ASSERT_EQ(found.passes.size(), 2u);
    EXPECT_EQ(found.passes[1].first, 64u);
    EXPECT_EQ(order_of_last(found), Order::kSame);
    EXPECT_EQ(found.passes[1].beside_previous->pieces.items, 64u);
}

TEST(Passes, leave_a_header_that_is_read_before_each_record_alone) {
    const RecordFile file = RecordFile::fixed(100);
    std::vector<Access> reads;
    for (unsigned epoch = 0; epoch < 3; ++epoch) {
        for (const std::size_t record : file.shuffled(epoch)) {
            reads.push_back({.offset = 1'000'000, .bytes = 100});
            reads.push_back({.offset = 1'000'100, .bytes = 100});
            reads.push_back(file.record(record));
        }
    }
    const Passes found = passes_of(reads);
    ASSERT_EQ(found.passes.size(), 3u);
    EXPECT_NEAR(static_cast<double>(found.passes[1].first), 300, 3);
}

TEST(Passes, of_which_each_leaves_some_records_out_are_found) {
    const RecordFile file = RecordFile::fixed(1000);
    std::vector<Access> reads;
    for (unsigned epoch = 0; epoch < 4; ++epoch) {
        auto order = file.shuffled(epoch);
        order.resize(960);
        file.read(reads, order);
    }
    const Passes found = passes_of(reads);
    ASSERT_EQ(found.passes.size(), 4u);
    EXPECT_NEAR(static_cast<double>(found.passes[1].first), 960, 10);
    EXPECT_EQ(order_of_last(found), Order::kShuffled);
}

TEST(Passes, are_none_where_records_are_taken_at_random_with_repetition) {
    const RecordFile file = RecordFile::fixed(1000);
    std::mt19937 random(1);
    std::vector<Access> reads;
    reads.reserve(5000);
    for (int i = 0; i < 5000; ++i) {
        reads.push_back(file.record(random() % 1000));
    }
    const Passes found = passes_of(reads);
    EXPECT_EQ(found.passes.size(), 1u);
    EXPECT_TRUE(found.revisits);
}

TEST(Passes, are_not_made_by_look_ups_that_share_the_upper_pages) {
    std::vector<Access> reads;
    for (std::uint64_t i = 0; i < 200; ++i) {
        reads.push_back({.offset = 0, .bytes = 4096});
        reads.push_back({.offset = 4096 * (1 + i % 5), .bytes = 4096});
        reads.push_back({.offset = 4096 * (10 + i), .bytes = 4096});
    }
    EXPECT_EQ(passes_of(reads).passes.size(), 1u);
}

TEST(Passes, over_three_blocks_are_enough) {
    const RecordFile file = RecordFile::fixed(3);
    std::vector<Access> reads;
    for (int epoch = 0; epoch < 4; ++epoch) {
        file.read(reads, file.order());
    }
    EXPECT_EQ(passes_of(reads).passes.size(), 4u);
}

TEST(Passes, are_not_made_by_a_beginning_that_is_looked_at_twice) {
    std::vector<Access> reads = {{.offset = 0, .bytes = 4096}, {.offset = 0, .bytes = 100}};
    RecordFile::fixed(50).read(reads, RecordFile::fixed(50).order());
    EXPECT_EQ(passes_of(reads).passes.size(), 1u);
}

TEST(Passes, over_a_set_of_files_tell_the_order_of_files_from_that_within) {
    std::vector<RecordFile> files;
    for (std::uint32_t i = 0; i < 30; ++i) {
        files.push_back(RecordFile::fixed(20, i));
    }
    std::vector<Access> reads;
    for (const RecordFile& file : files) {
        file.read(reads, file.order());
    }
    for (const std::size_t file : RecordFile::fixed(30).shuffled(2)) {
        files[file].read(reads, files[file].order());
    }
    const Passes found = passes_of(reads);
    ASSERT_EQ(found.passes.size(), 2u);
    EXPECT_EQ(found.passes[1].files, 30u);
    const Comparison& beside = *found.passes[1].beside_previous;
    EXPECT_EQ(order_of(beside.files), Order::kShuffled);
    EXPECT_NEAR(beside.files.distance(), 0.524, 0.001) << "counted pair by pair for this seed";
    EXPECT_EQ(order_of(beside.within_files), Order::kSame);
    EXPECT_EQ(order_of(beside.pieces), Order::kBlockShuffled);
}

TEST(Passes, by_content_are_found_in_a_file_that_was_written_anew_in_another_order) {
    const RecordFile file = RecordFile::fixed(100);
    std::vector<Access> reads;
    file.read(reads, file.order());
    for (std::uint64_t at = 0; const std::size_t record : file.shuffled(1)) {
        Access read = file.record(record);
        read.file = 1;
        read.offset = at;
        at += read.bytes;
        reads.push_back(read);
    }
    EXPECT_EQ(passes_of(reads).passes.size(), 1u) << "by place all is new";
    const Passes found = passes_of(by_content(reads));
    ASSERT_EQ(found.passes.size(), 2u);
    EXPECT_EQ(order_of_last(found), Order::kShuffled);
    EXPECT_EQ(found.passes[1].beside_previous->common_bytes, 100u * 4096);
}

TEST(Passes, by_content_pass_over_lengths_that_come_again_by_chance) {
    const RecordFile file = RecordFile::variable(200, 2);
    std::vector<Access> reads;
    file.read_with_lengths(reads, file.order());
    file.read_with_lengths(reads, file.shuffled(2));
    const std::vector<Access> known = by_content(reads);
    EXPECT_LE(known.size(), 400u);
    EXPECT_EQ(passes_of(known).passes.size(), 2u);
}

TEST(Passes, of_nothing_are_none) {
    EXPECT_TRUE(passes_of({}).passes.empty());
    EXPECT_TRUE(by_content(std::vector<Access>{{.bytes = 100}}).empty()) << "no fingerprint";
}

}  // namespace
}  // namespace dyetrace::analysis
