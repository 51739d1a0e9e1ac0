#include "trace/thin_segment.h"

#include <gtest/gtest.h>

#include "trace/segment_fixture.h"

namespace dyetrace::trace {
namespace {

using schema::Stream;

std::pair<std::uint16_t, std::uint8_t> slot(std::uint16_t cpu, Stream stream) {
    return {cpu, static_cast<std::uint8_t>(stream)};
}

std::vector<schema::Gap> gaps_of(const ReadBack& read) {
    std::vector<schema::Gap> gaps;
    for (const auto& [key, bytes] : read.bytes) {
        RecordWalk walk(bytes);
        for (schema::RecordBytes record = walk.next(); !record.empty(); record = walk.next()) {
            if (const schema::Gap* const gap = schema::as<schema::Gap>(record)) {
                gaps.push_back(*gap);
            }
        }
    }
    return gaps;
}

TEST(ThinSegment, keeps_facts_and_counts_the_events_of_each_cpu) {
    SegmentFixture trace;
    const std::vector<Drain> drains = three_drains(20);
    trace.write(drains);
    const std::uint64_t begin_ns = SegmentReader::open(trace.segment_path(), SegmentEnd::kComplete)
                                       .value()
                                       .blocks()[1]
                                       .begin_ns;
    EXPECT_EQ(thin_segment(trace.folder(), 1, schema::GapReason::kSpoolFull).value(), 40u);
    const ReadBack read = trace.read(SegmentEnd::kComplete).value();
    EXPECT_TRUE(read.lost.empty()) << "the segment is whole";
    EXPECT_FALSE(read.bytes.contains(slot(0, Stream::kEvents)));
    const auto& facts = read.bytes.at(slot(0, Stream::kFacts));
    ASSERT_GE(facts.size(), drains[0].bytes.size());
    EXPECT_TRUE(std::equal(drains[0].bytes.begin(), drains[0].bytes.end(), facts.begin()));
    const std::vector<schema::Gap> gaps = gaps_of(read);
    ASSERT_EQ(gaps.size(), 2u);
    for (std::uint32_t cpu = 0; cpu < 2; ++cpu) {
        EXPECT_EQ(gaps[cpu].cpu, cpu);
        EXPECT_EQ(gaps[cpu].lost, 20u);
        EXPECT_EQ(gaps[cpu].reason, static_cast<std::uint8_t>(schema::GapReason::kSpoolFull));
    }
    EXPECT_EQ(gaps[0].begin_ns, begin_ns);
    EXPECT_GE(gaps[0].end_ns, begin_ns);
}

TEST(ThinSegment, thinned_again_nothing_more_is_lost) {
    SegmentFixture trace;
    trace.write(three_drains());
    ASSERT_TRUE(thin_segment(trace.folder(), 1, schema::GapReason::kSpoolFull).ok());
    const std::string once = trace.segment();
    EXPECT_EQ(thin_segment(trace.folder(), 1, schema::GapReason::kSpoolFull).value(), 0u);
    EXPECT_EQ(gaps_of(trace.read(SegmentEnd::kComplete).value()).size(), 2u);
    EXPECT_EQ(trace.segment().size(), once.size());
}

TEST(ThinSegment, what_was_damaged_stays_a_gap_of_its_own_reason) {
    SegmentFixture trace;
    trace.write(three_drains(20));
    std::string bytes = trace.segment();
    const BlockHeader events =
        SegmentReader::open(trace.segment_path(), SegmentEnd::kComplete).value().blocks()[2];
    bytes[events.position + sizeof(BlockHeader)] ^= 1;
    trace.replace_segment(bytes);
    EXPECT_EQ(thin_segment(trace.folder(), 1, schema::GapReason::kSpoolFull).value(), 20u);
    std::map<std::uint8_t, std::uint64_t> lost;
    for (const schema::Gap& gap : gaps_of(trace.read(SegmentEnd::kComplete).value())) {
        lost[gap.reason] += gap.lost;
    }
    EXPECT_EQ(lost[static_cast<std::uint8_t>(schema::GapReason::kSpoolFull)], 20u);
    EXPECT_EQ(lost[static_cast<std::uint8_t>(schema::GapReason::kDamagedBlock)], 20u);
}

TEST(ThinSegment, a_segment_that_is_none_is_left_alone) {
    SegmentFixture trace;
    trace.write(three_drains());
    trace.replace_segment(
        "no segment at all, but longer than the header of one, which has 64 bytes");
    EXPECT_FALSE(thin_segment(trace.folder(), 1, schema::GapReason::kSpoolFull).ok());
    EXPECT_TRUE(trace.segment().starts_with("no segment"));
}

}  // namespace
}  // namespace dyetrace::trace
