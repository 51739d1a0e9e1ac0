#include "trace/segment_writer.h"

#include <gtest/gtest.h>

#include "trace/segment_fixture.h"

namespace dyetrace::trace {
namespace {

using schema::Stream;

std::uint64_t now_ns = 0;
std::uint64_t hand_wound_clock() {
    return now_ns;
}

// A disk with room for so many bytes, of which so many are kept for the trailer.
struct SmallDisk {
    std::size_t room;
    std::size_t promised;
    std::vector<std::string> files;  // contents
};

class SmallDiskFile : public AppendFile {
  public:
    SmallDiskFile(SmallDisk& disk, std::size_t index) : disk_(disk), index_(index) {}
    Result<void> append(std::span<const std::byte> bytes) override {
        return write(bytes, bytes.size() + disk_.promised);
    }
    Result<void> append_trailer(std::span<const std::byte> bytes) override {
        return write(bytes, bytes.size());
    }

  private:
    Result<void> write(std::span<const std::byte> bytes, std::size_t needed) {
        if (needed > disk_.room) {
            return Error::from_errno(ENOSPC, "cannot write");
        }
        disk_.files[index_].append(base::text_of(bytes));
        disk_.room -= bytes.size();
        return {};
    }

    SmallDisk& disk_;
    std::size_t index_;
};

SegmentWriterOptions on(SmallDisk& disk) {
    SegmentWriterOptions options;
    options.create_file = [&disk](const std::string&) -> Result<std::unique_ptr<AppendFile>> {
        disk.files.emplace_back();
        return std::unique_ptr<AppendFile>(
            std::make_unique<SmallDiskFile>(disk, disk.files.size() - 1));
    };
    return options;
}

TEST(SegmentWriter, begins_a_new_segment_at_each_limit) {
    SyntheticRecords records;
    const std::vector<std::byte> events = records.events(0, 100);
    const auto segments_with = [&](SegmentLimits limits) {
        SegmentFixture trace;
        SegmentWriterOptions options;
        options.limits = limits;
        options.clock_ns = &hand_wound_clock;
        SegmentWriter writer = SegmentWriter::create(trace.folder(), 0, options).value();
        for (int i = 0; i < 10; ++i) {
            now_ns += 1'000'000'000;
            writer.append(0, Stream::kEvents, events).value();
            writer.flush().value();
        }
        writer.close().value();
        return trace.folder().list().value().recorded.size();
    };
    EXPECT_EQ(segments_with({}), 1u);
    EXPECT_EQ(segments_with({.records_max = 500}),
              3u);  // the last one is empty: the limit is met by the last flush
    EXPECT_EQ(segments_with({.raw_bytes_max = events.size() * 3}), 4u);
    EXPECT_EQ(segments_with({.age_ns_max = 4'000'000'000}), 3u);
}

TEST(SegmentWriter, takes_more_cpus_than_it_has_pending_blocks) {
    SyntheticRecords records({.seed = 1, .cpus = 200, .backends = 200});
    SegmentFixture trace;
    SegmentWriter writer = SegmentWriter::create(trace.folder(), 0).value();
    for (std::uint16_t cpu = 0; cpu < 200; ++cpu) {
        writer.append(cpu, Stream::kEvents, records.events(cpu, 3)).value();
    }
    writer.close().value();
    EXPECT_EQ(trace.read(SegmentEnd::kComplete).value().records, 600u);
}

TEST(SegmentWriter, refuses_what_is_no_record_and_goes_on) {
    SyntheticRecords records;
    SegmentFixture trace;
    SegmentWriter writer = SegmentWriter::create(trace.folder(), 0).value();
    const std::vector<std::byte> garbage(40, std::byte{0xff});
    EXPECT_EQ(writer.append(0, Stream::kEvents, garbage).error().code(), ErrorCode::kCorrupt);
    EXPECT_EQ(writer.append(kCpusMax, Stream::kEvents, {}).error().code(),
              ErrorCode::kLimitReached);
    writer.append(0, Stream::kEvents, records.events(0, 2)).value();
    writer.close().value();
    EXPECT_EQ(trace.read(SegmentEnd::kComplete).value().records, 2u);
    EXPECT_EQ(writer.totals().events, 2u);
}

TEST(SegmentWriter, keeps_a_record_that_is_larger_than_a_block) {
    SyntheticRecords records;
    std::vector<std::byte> large;
    records.add(0, Stream::kEvents, large, schema::LogEvent{}, std::string(65'000, 'x'));
    std::vector<std::byte> many;
    for (int i = 0; i < 10; ++i) {
        many.insert(many.end(), large.begin(), large.end());
    }
    SegmentFixture trace;
    trace.write({{0, Stream::kEvents, many}});
    EXPECT_EQ(trace.read(SegmentEnd::kComplete)
                  .value()
                  .bytes[std::pair(std::uint16_t{0}, std::uint8_t{0})],
              many);
}

// At every size of the disk: what the writer counted as written can be read, and nothing else.
TEST(SegmentWriter, on_a_full_disk_leaves_whole_blocks) {
    SyntheticRecords records;
    const std::vector<std::byte> events = records.events(0, 10);
    for (std::size_t room = 100; room < 4000; room += 37) {
        SegmentFixture trace;
        SmallDisk disk{room, 0, {}};
        SegmentWriter writer = SegmentWriter::create(trace.folder(), 0, on(disk)).value();
        Result<void> done;
        while (done.ok()) {
            done = writer.append(0, Stream::kEvents, events);
            done = done.ok() ? writer.flush() : std::move(done);
        }
        EXPECT_EQ(done.error().code(), ErrorCode::kLimitReached);
        EXPECT_EQ(writer.append(0, Stream::kEvents, events).error().code(),
                  ErrorCode::kLimitReached)
            << "closed, not retried";
        trace.replace_segment(disk.files[0]);
        const ReadBack back = trace.read(SegmentEnd::kMayGrow).value();
        EXPECT_TRUE(back.lost.empty());
        EXPECT_EQ(back.records, writer.totals().events + writer.totals().facts) << room;
        EXPECT_EQ(writer.events_of(0), writer.totals().events);
    }
}

TEST(SegmentWriter, has_room_to_say_that_the_disk_was_full) {
    SyntheticRecords records;
    SegmentFixture trace;
    SmallDisk disk{2000 + kTrailerBytesMax, kTrailerBytesMax, {}};
    SegmentWriter writer = SegmentWriter::create(trace.folder(), 0, on(disk)).value();
    EXPECT_FALSE(writer.append(0, Stream::kEvents, records.events(0, 100'000)).ok());
    EXPECT_TRUE(writer.failed());
    const std::vector<std::byte> facts = records.facts(0);
    writer.write_trailer(0, facts).value();
    trace.replace_segment(disk.files[0]);
    const ReadBack back = trace.read(SegmentEnd::kComplete).value();
    EXPECT_TRUE(back.lost.empty());
    EXPECT_EQ(back.bytes.at({0, static_cast<std::uint8_t>(Stream::kFacts)}), facts);
    EXPECT_EQ(
        base::file_size(base::open_file(trace.path() + "/recording", O_RDONLY).value()).value(), 0u)
        << "the reserve is for others now";
}

std::uint64_t kept_ns(const SegmentFixture& trace) {
    return SegmentReader::open(trace.segment_path(), SegmentEnd::kMayGrow).value().complete_ns();
}

// Events of CPU 1 wait while blocks of CPU 0 are written.
TEST(SegmentWriter, says_up_to_when_the_events_of_all_cpus_are_on_the_disk) {
    SyntheticRecords records;
    SegmentFixture trace;
    SegmentWriterOptions options;
    options.complete_ns = 1'000;
    options.clock_ns = [] { return std::uint64_t{9'000'000}; };
    SegmentWriter writer = SegmentWriter::create(trace.folder(), 0, options).value();
    EXPECT_EQ(kept_ns(trace), 1'000u);
    writer.complete_until(1'000'000);
    writer.append(1, Stream::kEvents, records.events(1, 1)).value();
    writer.complete_until(2'000'000);
    writer.append(0, Stream::kEvents, records.events(0, 5'000)).value();
    EXPECT_GT(writer.totals().blocks, 0u);
    EXPECT_EQ(kept_ns(trace), 1'000'000u);
    writer.complete_until(3'000'000);
    EXPECT_EQ(writer.kept_until_ns(), 1'000'000u);
    writer.flush().value();
    EXPECT_EQ(kept_ns(trace), 3'000'000u);
    const auto died = trace.read(SegmentEnd::kRecorderDied).value();
    EXPECT_EQ(died.lost.at(0).gap.begin_ns, 3'000'000u);
}

TEST(SegmentWriter, that_failed_has_kept_nothing_more) {
    SyntheticRecords records;
    SegmentFixture trace;
    SmallDisk disk{2000, 0, {}};
    SegmentWriterOptions options = on(disk);
    options.complete_ns = 1'000;
    SegmentWriter writer = SegmentWriter::create(trace.folder(), 0, options).value();
    EXPECT_FALSE(writer.append(0, Stream::kEvents, records.events(0, 100'000)).ok());
    writer.complete_until(2'000);
    EXPECT_EQ(writer.kept_until_ns(), 1'000u);
}

// The disk had room for the end of a segment and none for the next one.
TEST(SegmentWriter, has_a_trailer_between_two_segments) {
    SyntheticRecords records;
    const std::vector<std::byte> events = records.events(0, 10);
    SegmentWriterOptions options;
    options.limits.records_max = 10;
    SegmentFixture trace;
    int files = 0;
    options.create_file = [&](const std::string& path) -> Result<std::unique_ptr<AppendFile>> {
        if (++files == 2) {
            return Error::from_errno(ENOSPC, "cannot make a file");
        }
        return create_append_file(path);
    };
    SegmentWriter writer = SegmentWriter::create(trace.folder(), 0, options).value();
    writer.append(0, Stream::kEvents, events).value();
    EXPECT_EQ(writer.flush().error().code(), ErrorCode::kLimitReached);
    const std::vector<std::byte> facts = records.facts(0);
    writer.write_trailer(0, facts).value();
    EXPECT_EQ(read_back(trace.folder().segment_path(1), SegmentEnd::kComplete).value().records,
              10u);
    const ReadBack last = read_back(trace.folder().segment_path(2), SegmentEnd::kComplete).value();
    EXPECT_TRUE(last.lost.empty());
    EXPECT_EQ(last.bytes.at({0, static_cast<std::uint8_t>(Stream::kFacts)}), facts);
}

}  // namespace
}  // namespace dyetrace::trace
