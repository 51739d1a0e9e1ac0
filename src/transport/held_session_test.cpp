#include "transport/held_session.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "trace/segment_fixture.h"

namespace dyetrace::transport {
namespace {

constexpr const char* kFirst = "segment-000001.seg";

// A session whose recorder is gone, with three segments, as an agent finds it in its spool.
class HeldSessionTest : public ::testing::Test {
  protected:
    HeldSessionTest() {
        base::make_folders(folder()).value();
        trace::TraceInfo info = trace::info_of_one_host();
        trace::TraceFolder trace =
            trace::TraceFolder::create(folder() + "/trace", std::move(info)).value();
        trace::SegmentWriterOptions options;
        options.limits.records_max = 1;  // a segment per flush
        auto writer = trace::SegmentWriter::create(trace, 0, std::move(options)).value();
        for (const trace::Drain& drain : trace::three_drains()) {
            writer.append(drain.cpu, drain.stream, drain.bytes).value();
            writer.flush().value();
        }
        writer.close().value();
        trace.finish().value();
    }

    std::string folder() const { return temporary.path() + "/s"; }
    std::string segment(const char* name) const { return folder() + "/trace/" + name; }
    void begun(const std::string& number) {
        base::write_file_atomically(folder() + "/begun", number).value();
    }
    HeldSession adopted() {
        HeldSession session = HeldSession::adopt(folder(), "s");
        EXPECT_EQ(session.look().value().phase(), fleet::SHIPPING);
        return session;
    }

    base::TemporaryFolder temporary = base::TemporaryFolder::make().value();
};

// A recorder that is told to stop before it is told to begin knows no more than that.
class StoppedRecorder : public Recorder {
  public:
    explicit StoppedRecorder(std::string said) : said_(std::move(said)) {}
    State look() override { return stopped_ ? State::kEnded : State::kReady; }
    Result<void> go() override { return {}; }
    void stop() override {
        stopped_ = true;
        base::write_file_atomically(said_, "dyetrace: error: stopped before it began\n").value();
    }
    pid_t pid() const override { return -1; }

  private:
    std::string said_;
    bool stopped_ = false;
};

TEST_F(HeldSessionTest, says_why_it_was_stopped_before_it_began) {
    HeldSession session =
        HeldSession::begin(temporary.path() + "/new", "new", {}, [](const RecorderOrder& order) {
            return Result<std::unique_ptr<Recorder>>(std::make_unique<StoppedRecorder>(order.said));
        }).value();
    EXPECT_EQ(session.look().value().phase(), fleet::READY);
    session.stop("it holds too much memory");
    const fleet::Status status = session.look().value();
    EXPECT_EQ(status.phase(), fleet::FAILED);
    EXPECT_EQ(status.text(), "it holds too much memory");
}

TEST_F(HeldSessionTest, thins_no_segment_of_which_something_was_sent_by_an_agent_before_this_one) {
    begun("00000000000000000002");
    HeldSession session = adopted();
    const std::string second = base::read_file(segment("segment-000002.seg"), 1 << 20).value();
    EXPECT_EQ(session.drop_oldest_events().value(), 20u) << "of the third";
    EXPECT_EQ(base::read_file(segment("segment-000002.seg"), 1 << 20).value(), second);
}

TEST_F(HeldSessionTest, thins_nothing_when_it_is_not_known_what_was_sent) {
    HeldSession session = adopted();
    EXPECT_EQ(session.drop_oldest_events().value(), std::nullopt);
}

TEST_F(HeldSessionTest, what_it_sends_is_not_thinned_after_the_connection_broke) {
    begun("00000000000000000000");
    HeldSession session = adopted();
    fleet::Resume nothing;
    nothing.set_session("s");
    session.resume(nothing);
    EXPECT_EQ(session.next_chunk().value().file(), "trace.json");
    EXPECT_EQ(session.next_chunk().value().file(), kFirst);
    session.disconnect();
    ASSERT_TRUE(session.drop_oldest_events().ok());
    HeldSession next = adopted();
    ASSERT_TRUE(next.drop_oldest_events().ok());
    const auto first =
        trace::SegmentReader::open(segment(kFirst), trace::SegmentEnd::kComplete).value();
    EXPECT_EQ(first.blocks().size(), 1u) << "as its recorder left it";
    EXPECT_EQ(base::read_file(folder() + "/begun", 64).value(), "00000000000000000001");
}

TEST_F(HeldSessionTest, goes_on_where_the_collector_is_and_deletes_what_it_has_whole) {
    begun("00000000000000000001");
    HeldSession session = adopted();
    fleet::Resume resume;
    fleet::FileSize& file = *resume.add_files();
    file.set_file(kFirst);
    file.set_size(std::filesystem::file_size(segment(kFirst)));
    fleet::FileSize& part = *resume.add_files();
    part.set_file("segment-000002.seg");
    part.set_size(10);
    session.resume(resume);
    EXPECT_FALSE(std::filesystem::exists(segment(kFirst)));
    EXPECT_EQ(session.next_chunk().value().file(), "trace.json");
    const fleet::Chunk chunk = session.next_chunk().value();
    EXPECT_EQ(chunk.file(), "segment-000002.seg");
    EXPECT_EQ(chunk.offset(), 10u);
    EXPECT_EQ(session.in_flight(), chunk.data().size());
    session.acknowledge(chunk.file(), chunk.offset() + chunk.data().size());
    EXPECT_EQ(session.in_flight(), 0u);
    EXPECT_FALSE(std::filesystem::exists(segment("segment-000002.seg")));
}

}  // namespace
}  // namespace dyetrace::transport
