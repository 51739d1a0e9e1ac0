// Writer and reader together: what goes in comes out, whatever happens to the file in between.

#include <gtest/gtest.h>

#include <random>

#include "trace/segment_fixture.h"

namespace dyetrace::trace {
namespace {

using schema::Stream;

std::uint64_t known_lost(const std::vector<LostRange>& lost) {
    std::uint64_t sum = 0;
    for (const LostRange& range : lost) {
        sum += range.gap.lost == UINT64_MAX ? 0 : range.gap.lost;
    }
    return sum;
}

// The header of the n-th block of a segment, for tests that edit it.
std::pair<std::size_t, BlockHeader> nth_block(const std::string& segment, int n) {
    std::size_t at = sizeof(SegmentHeader);
    BlockHeader header{};
    for (;; at += sizeof(header) + padded(header.stored_size)) {
        std::memcpy(&header, segment.data() + at, sizeof(header));
        if (n-- == 0) {
            return {at, header};
        }
    }
}

void sign(BlockHeader& header) {
    header.header_checksum = checksum(
        std::as_bytes(std::span(&header, 1)).first(offsetof(BlockHeader, header_checksum)));
}

TEST(Segment, gives_back_random_drains_in_order_per_cpu_and_stream) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 20; ++round) {
        SyntheticRecords records({.seed = random(), .cpus = 4});
        SegmentFixture trace;
        std::vector<Drain> drains;
        std::map<std::pair<std::uint16_t, std::uint8_t>, std::vector<std::byte>> expected;
        for (std::uint64_t i = random() % 12; i > 0; --i) {
            const auto cpu = static_cast<std::uint16_t>(random() % 4);
            const bool facts = random() % 3 == 0;
            drains.push_back({cpu,
                              facts ? Stream::kFacts : Stream::kEvents,
                              facts ? records.facts(cpu) : records.events(cpu, random() % 4000)});
            if (!drains.back().bytes.empty()) {
                auto& bytes = expected[{cpu, static_cast<std::uint8_t>(drains.back().stream)}];
                bytes.insert(bytes.end(), drains.back().bytes.begin(), drains.back().bytes.end());
            }
        }
        trace.write(drains);
        const ReadBack back = trace.read(SegmentEnd::kComplete).value();
        EXPECT_EQ(back.bytes, expected) << "round " << round;
        EXPECT_TRUE(back.lost.empty());
    }
}

TEST(Segment, says_in_block_headers_what_is_inside) {
    SegmentFixture trace;
    trace.write(three_drains());
    const SegmentReader reader =
        SegmentReader::open(trace.segment_path(), SegmentEnd::kComplete).value();
    ASSERT_EQ(reader.blocks().size(), 3u);
    EXPECT_TRUE(reader.has_end_block());
    const BlockHeader& facts = reader.blocks()[0];
    EXPECT_EQ(facts.stream, 1);
    EXPECT_EQ(facts.record_types, record_type_bit(16) | record_type_bit(17) | record_type_bit(18));
    const BlockHeader& events = reader.blocks()[2];
    EXPECT_EQ(events.cpu, 1);
    EXPECT_EQ(events.record_count, 20u);
    EXPECT_EQ(events.record_types, record_type_bit(1));
    EXPECT_EQ(events.first_sequence, 0u);
    EXPECT_EQ(events.last_sequence, 19u);
    EXPECT_LT(events.begin_ns, events.end_ns);
}

TEST(Segment, has_the_facts_before_the_events_that_name_them_in_every_prefix) {
    SyntheticRecords records;
    SegmentFixture trace;
    SegmentWriter writer = SegmentWriter::create(trace.folder(), 0).value();
    // Not flushed: the events of CPU 0 fill a block while the facts of CPU 1 wait.
    writer.append(1, Stream::kFacts, records.facts(1)).value();
    writer.append(0, Stream::kEvents, records.events(0, 2000)).value();
    writer.close().value();
    const SegmentReader reader =
        SegmentReader::open(trace.segment_path(), SegmentEnd::kComplete).value();
    EXPECT_EQ(reader.blocks().front().stream, static_cast<std::uint8_t>(Stream::kFacts));
}

TEST(Segment, cut_at_any_byte_gives_its_whole_blocks_and_says_that_it_was_cut) {
    SegmentFixture trace;
    trace.write(three_drains());
    const std::string whole = trace.segment();
    const std::uint64_t all = trace.read(SegmentEnd::kComplete).value().records;
    for (std::size_t size = 0; size < whole.size(); ++size) {
        trace.replace_segment(whole.substr(0, size));
        const auto growing = trace.read(SegmentEnd::kMayGrow);
        ASSERT_TRUE(growing.ok()) << size;
        EXPECT_TRUE(growing.value().lost.empty()) << size;
        const auto died = trace.read(SegmentEnd::kRecorderDied).value();
        ASSERT_EQ(died.lost.size(), 1u) << size;
        EXPECT_EQ(died.lost[0].gap.reason,
                  static_cast<std::uint8_t>(schema::GapReason::kRecorderDied));
        const auto cut = trace.read(SegmentEnd::kComplete);
        if (size < sizeof(SegmentHeader)) {
            EXPECT_FALSE(cut.ok()) << size;
            continue;
        }
        ASSERT_TRUE(cut.ok()) << size;
        EXPECT_LE(cut.value().records, all);
        EXPECT_FALSE(cut.value().lost.empty()) << size;
    }
}

TEST(Segment, with_any_byte_flipped_loses_at_most_one_block_and_never_in_silence) {
    SegmentFixture trace;
    trace.write(three_drains(5));
    const std::string whole = trace.segment();
    const ReadBack good = trace.read(SegmentEnd::kComplete).value();
    for (std::size_t at = sizeof(SegmentHeader); at < whole.size(); ++at) {
        std::string flipped = whole;
        flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
        trace.replace_segment(flipped);
        const auto back = trace.read(SegmentEnd::kComplete);
        ASSERT_TRUE(back.ok()) << at << ": " << back.error().text();
        if (back.value().bytes == good.bytes) {
            continue;  // padding, or the end block
        }
        EXPECT_FALSE(back.value().lost.empty()) << at;
        EXPECT_GE(back.value().bytes.size(), 2u) << at;
    }
}

TEST(Segment, tells_how_many_events_a_damaged_block_cost) {
    SegmentFixture trace;
    trace.write(three_drains(20));
    std::string bytes = trace.segment();
    const auto [at, header] = nth_block(bytes, 1);
    bytes[at + sizeof(header) + 3] ^= 1;
    trace.replace_segment(bytes);
    const ReadBack back = trace.read(SegmentEnd::kComplete).value();
    ASSERT_EQ(back.lost.size(), 1u);
    EXPECT_EQ(back.lost[0].gap.lost, 20u);
    EXPECT_EQ(back.lost[0].gap.begin_ns, header.begin_ns);
    EXPECT_EQ(back.lost[0].gap.end_ns, header.end_ns);
    EXPECT_EQ(back.lost[0].gap.cpu, 0u);
    EXPECT_EQ(back.lost[0].gap.reason, static_cast<std::uint8_t>(schema::GapReason::kDamagedBlock));
}

TEST(Segment, is_not_fooled_by_a_block_inside_of_a_payload) {
    SegmentFixture inner;
    inner.write(three_drains(5));
    const std::string inside = inner.segment();
    SyntheticRecords records;
    std::vector<std::byte> log;
    records.add(0, Stream::kEvents, log, schema::LogEvent{}, inside.substr(0, 4000));
    SegmentFixture trace;
    trace.write({{0, Stream::kEvents, log}, {1, Stream::kEvents, records.events(1, 3)}},
                {.limits = {}, .level = -50});
    std::string bytes = trace.segment();
    bytes[sizeof(SegmentHeader) + offsetof(BlockHeader, stored_size)] ^= 1;
    trace.replace_segment(bytes);
    const ReadBack back = trace.read(SegmentEnd::kComplete).value();
    EXPECT_EQ(back.records, 3u);
    EXPECT_EQ(back.lost.size(), 1u);
}

TEST(Segment, skips_unknown_records_that_may_be_skipped_and_refuses_the_others) {
    SyntheticRecords records;
    std::vector<std::byte> bytes = records.events(0, 2);
    schema::RecordHeader unknown{};
    unknown.size = 32;
    unknown.type = static_cast<schema::RecordId>(77);
    unknown.flags = 1;
    const auto append = [&] {
        const auto header = std::as_bytes(std::span(&unknown, 1));
        bytes.insert(bytes.end(), header.begin(), header.end());
        bytes.resize(bytes.size() + unknown.size - sizeof(unknown));
    };
    append();
    SegmentFixture skipped;
    skipped.write({{0, Stream::kEvents, bytes}});
    EXPECT_EQ(skipped.read(SegmentEnd::kComplete).value().records, 3u);
    unknown.flags = 0;
    append();
    SegmentFixture refused;
    refused.write({{0, Stream::kEvents, bytes}});
    const auto read = refused.read(SegmentEnd::kComplete);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code(), ErrorCode::kUnsupported);
    EXPECT_NE(read.error().text().find(
                  "records of type 77, which this dyetrace does not know: use a newer dyetrace"),
              std::string::npos);
}

TEST(Segment, skips_unknown_blocks_that_may_be_skipped_and_refuses_the_others) {
    SegmentFixture trace;
    trace.write(three_drains(5));
    std::string bytes = trace.segment();
    auto [at, header] = nth_block(bytes, 1);
    const std::uint64_t skipped = header.record_count;
    const std::uint64_t all = trace.read(SegmentEnd::kComplete).value().records;
    header.type = static_cast<BlockType>(9);
    for (const bool may_be_skipped : {true, false}) {
        header.flags = may_be_skipped ? kBlockMayBeSkipped : 0;
        sign(header);
        std::memcpy(bytes.data() + at, &header, sizeof(header));
        trace.replace_segment(bytes);
        const auto back = trace.read(SegmentEnd::kComplete);
        ASSERT_EQ(back.ok(), may_be_skipped);
        if (may_be_skipped) {
            EXPECT_EQ(back.value().records, all - skipped);
        } else {
            EXPECT_EQ(back.error().code(), ErrorCode::kUnsupported);
        }
    }
}

TEST(Segment, of_a_newer_format_or_with_an_unknown_feature_is_refused) {
    SegmentFixture trace;
    trace.write(three_drains(1));
    for (const bool newer_version : {true, false}) {
        std::string bytes = trace.segment();
        SegmentHeader header{};
        std::memcpy(&header, bytes.data(), sizeof(header));
        header.format_version = newer_version ? kFormatVersion + 1 : kFormatVersion;
        header.must_understand = newer_version ? 0 : 4;
        header.may_ignore = 8;
        header.checksum =
            checksum(std::as_bytes(std::span(&header, 1)).first(offsetof(SegmentHeader, checksum)));
        std::memcpy(bytes.data(), &header, sizeof(header));
        SegmentFixture other;
        other.replace_segment(bytes);
        const auto back = other.read(SegmentEnd::kComplete);
        ASSERT_FALSE(back.ok());
        EXPECT_EQ(back.error().code(), ErrorCode::kUnsupported) << back.error().text();
    }
}

TEST(Segment, counts_a_malformed_record_under_a_good_checksum_as_a_damaged_block) {
    SegmentFixture trace;
    SyntheticRecords records;
    std::vector<std::byte> bytes = records.events(0, 3);
    const std::uint32_t too_short = 24;  // less than the fields of a syscall_event
    std::memcpy(bytes.data(), &too_short, sizeof(too_short));
    std::vector<std::byte> one(bytes.begin(), bytes.begin() + 24);
    trace.write({{0, Stream::kEvents, one}});
    const ReadBack back = trace.read(SegmentEnd::kComplete).value();
    EXPECT_EQ(back.records, 0u);
    EXPECT_EQ(known_lost(back.lost), 1u);
}

}  // namespace
}  // namespace dyetrace::trace
