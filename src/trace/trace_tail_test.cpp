#include "trace/trace_tail.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/segment_fixture.h"

namespace dyetrace::trace {
namespace {

constexpr std::size_t kEventsPerFlush = 50;

// A recorder of one host that writes some events whenever it is told to.
class Recorder {
  public:
    explicit Recorder(TraceFolder& folder)
        : folder_(folder),
          writer_(SegmentWriter::create(folder, folder.host_index(), {}).value()) {}

    void write_some() {
        std::vector<std::byte> bytes;
        for (std::size_t i = 0; i < kEventsPerFlush; ++i) {
            records_.append_event(0, bytes);
        }
        writer_.append(0, schema::Stream::kEvents, bytes).value();
        writer_.flush().value();
    }
    void begin_next_segment() {
        writer_.close().value();
        SegmentWriterOptions options;
        options.first_number = ++segment_;
        writer_ = SegmentWriter::create(folder_, folder_.host_index(), options).value();
    }
    void close() { writer_.close().value(); }

  private:
    TraceFolder& folder_;
    SyntheticRecords records_;
    SegmentWriter writer_;
    std::uint64_t segment_ = 1;
};

std::size_t read_events(TraceTail& tail) {
    std::size_t events = 0;
    tail.read([&](std::uint16_t, std::span<const std::byte> records) {
            RecordWalk walk(records);
            while (!walk.next().empty()) {
                ++events;
            }
        })
        .value();
    return events;
}

TEST(TraceTail, hands_over_what_came_since_and_nothing_twice) {
    SegmentFixture trace;
    Recorder recorder(trace.folder());
    recorder.write_some();
    TraceTail tail = TraceTail::open(trace.path()).value();
    EXPECT_EQ(tail.state().value(), TraceState::kRecording);
    EXPECT_EQ(read_events(tail), 0u);
    recorder.write_some();
    EXPECT_EQ(read_events(tail), kEventsPerFlush);
    EXPECT_EQ(read_events(tail), 0u);
    recorder.begin_next_segment();
    recorder.write_some();
    recorder.begin_next_segment();
    recorder.write_some();
    EXPECT_EQ(read_events(tail), 2 * kEventsPerFlush);
    EXPECT_EQ(read_events(tail), 0u);
    EXPECT_EQ(tail.parts().at(0).host, "web1");
    EXPECT_GT(tail.parts().at(0).written_ns, 0);
    EXPECT_EQ(tail.segments_missed(), 0u);
}

TEST(TraceTail, counts_what_was_sealed_before_it_was_read) {
    SegmentFixture trace;
    Recorder recorder(trace.folder());
    TraceTail tail = TraceTail::open(trace.path()).value();
    recorder.write_some();
    recorder.begin_next_segment();
    recorder.write_some();
    ASSERT_EQ(mkdir(trace.folder().sealed_path(1).c_str(), 0700), 0);
    ASSERT_EQ(unlink(trace.folder().segment_path(1).c_str()), 0);
    EXPECT_EQ(read_events(tail), kEventsPerFlush);
    EXPECT_EQ(tail.segments_missed(), 1u);
    EXPECT_EQ(read_events(tail), 0u);
    EXPECT_EQ(tail.segments_missed(), 1u);
}

TEST(TraceTail, passes_over_a_damaged_segment) {
    SegmentFixture trace;
    Recorder recorder(trace.folder());
    TraceTail tail = TraceTail::open(trace.path()).value();
    recorder.write_some();
    recorder.close();
    trace.replace_segment(trace.segment().replace(0, 8, 8, 'x'));
    EXPECT_EQ(read_events(tail), 0u);
}

}  // namespace
}  // namespace dyetrace::trace
