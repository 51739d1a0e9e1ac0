#include "importer/importer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "schema/record.h"
#include "trace/record_walk.h"
#include "trace/segment_reader.h"
#include "trace/trace_folder.h"

namespace dyetrace::importer {
namespace {

class Import : public ::testing::Test {
  protected:
    std::string log(const std::string& name, const std::string& text) {
        std::string path = folder_.path() + "/" + name;
        base::write_file_atomically(path, text).value();
        return path;
    }
    Result<ImportSummary> import(const std::string& text, const LogOptions& options = {}) {
        return import_logs({.files = {log("log", text)},
                            .trace_path = path(),
                            .options = options,
                            .program = "test"});
    }
    std::string path() const { return folder_.path() + "/trace"; }

    // All records of a kind, of the only host or of a part.
    template <typename Record>
    std::vector<Record> records(const std::string& part = "") {
        auto reader = trace::SegmentReader::open(path() + part + "/segment-000001.seg",
                                                 trace::SegmentEnd::kComplete)
                          .value();
        std::vector<Record> found;
        for (const trace::BlockHeader& block : reader.blocks()) {
            trace::RecordWalk walk(reader.read(block).value());
            for (schema::RecordBytes bytes = walk.next(); !bytes.empty(); bytes = walk.next()) {
                if (const Record* const record = schema::as<Record>(bytes)) {
                    found.push_back(*record);
                }
            }
        }
        return found;
    }

  private:
    base::TemporaryFolder folder_ = base::TemporaryFolder::make().value();
};

TEST_F(Import, tells_the_format_by_the_beginning) {
    EXPECT_EQ(format_of("\n{\"type\":1}"), LogFormat::kFalcon);
    EXPECT_EQ(format_of("[{\"type\":1}]"), LogFormat::kFalcon);
    EXPECT_EQ(format_of("[\n{"), LogFormat::kFalcon);
    EXPECT_EQ(format_of("[pid 7] close(3) = 0"), LogFormat::kStrace);
    EXPECT_EQ(format_of("strace: Process 7 attached\n7 close(3) = 0"), LogFormat::kStrace);
    EXPECT_FALSE(format_of("hello\nworld\n"));
    EXPECT_FALSE(format_of(std::string(5000, '\0')));
}

TEST_F(Import, leaves_nothing_behind_of_what_is_no_log) {
    struct stat status {};
    for (const std::string& text : {std::string(),
                                    std::string("hello\n"),
                                    std::string("{}\n"),
                                    std::string(100, '\xff'),
                                    std::string("7 +++ exited with 0 +++\n"),
                                    std::string("rubbish\n7 close(3) ?? rubbish\n")}) {
        const auto summary = import(text);
        ASSERT_FALSE(summary.ok()) << text;
        EXPECT_NE(::stat(path().c_str(), &status), 0) << text;
    }
    const auto missing = import_logs({.files = {"/nowhere/x"}, .trace_path = path()});
    EXPECT_EQ(missing.error().code(), ErrorCode::kNotFound);
}

TEST_F(Import, does_not_touch_a_trace_that_is_there) {
    ASSERT_TRUE(import("7 close(3) = 0\n").ok());
    const auto again = import("7 close(3) = 0\n");
    ASSERT_FALSE(again.ok());
    EXPECT_EQ(trace::TraceFolder::open(path()).value().info().state, trace::TraceState::kFinished);
}

TEST_F(Import, counts_every_line_that_it_cannot_read) {
    const auto summary = import(
                             "7 close(3) = 0\nrubbish\n7 close(4) = -1 EBADF (Bad file "
                             "descriptor)\n7 read(3, \"abc\n")
                             .value();
    EXPECT_EQ(summary.events, 2u);
    ASSERT_EQ(summary.problems.size(), 1u);
    EXPECT_EQ(summary.problems[0].count, 2u);
    EXPECT_TRUE(summary.problems[0].places[0].ends_with("/log:2"));
    const auto accounting = records<schema::Accounting>().at(0);
    EXPECT_EQ(accounting.generated, 4u);
    EXPECT_EQ(accounting.delivered, 2u);
    EXPECT_EQ(accounting.lost, 2u);
    EXPECT_EQ(records<schema::Gap>().at(0).lost, 2u);
}

TEST_F(Import, makes_a_part_of_each_host) {
    const auto summary = import(
                             "{\"type\":\"START\",\"thread\":\"1@a\",\"timestamp\":1}\n"
                             "{\"type\":\"START\",\"thread\":\"1@b\",\"timestamp\":2}\n")
                             .value();
    EXPECT_EQ(summary.hosts, 2u);
    const auto parts = trace::TraceFolder::open(path()).value().parts().value();
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_EQ(parts[1].info().hosts[0].name, "b");
    EXPECT_EQ(records<schema::LogEvent>("/host-0001").size(), 1u);
}

TEST_F(Import, keeps_to_the_wall_clock_of_the_log) {
    ASSERT_TRUE(
        import("{\"type\":\"START\",\"thread\":\"1@a\",\"timestamp\":1525880628342}\n").ok());
    const auto event = records<schema::LogEvent>().at(0);
    const auto host = trace::TraceFolder::open(path()).value().info().hosts[0];
    EXPECT_EQ(static_cast<std::int64_t>(event.start_ns) + host.wall_offset_ns,
              1'525'880'628'342'000'000);
}

TEST_F(Import, adds_up_the_bytes_of_a_connection_and_a_files_position) {
    ASSERT_TRUE(import("7 socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) = 5<TCP:[1]>\n"
                       "7 connect(5<TCP:[1]>, {sa_family=AF_INET, sin_port=htons(80), "
                       "sin_addr=inet_addr(\"127.0.0.1\")}, 16) = 0\n"
                       "7 write(5<TCP:[127.0.0.1:9->127.0.0.1:80]>, \"abc\", 3) = 3\n"
                       "7 write(5<TCP:[127.0.0.1:9->127.0.0.1:80]>, \"de\", 2) = 2\n"
                       "7 openat(AT_FDCWD</tmp>, \"x\", O_RDONLY) = 6</tmp/x>\n"
                       "7 read(6</tmp/x>, \"abc\", 100) = 3\n"
                       "7 lseek(6</tmp/x>, 50, SEEK_SET) = 50\n"
                       "7 read(6</tmp/x>, \"d\", 100) = 1\n")
                    .ok());
    const auto events = records<schema::SyscallEvent>();
    ASSERT_EQ(events.size(), 8u);
    EXPECT_EQ(events[2].stream_offset, 0u);
    EXPECT_EQ(events[3].stream_offset, 3u);
    EXPECT_EQ(events[5].file_offset, 0);
    EXPECT_EQ(events[7].file_offset, 50);
    EXPECT_EQ(events[7].requested, 100u);
}

TEST_F(Import, does_not_say_where_overlapping_calls_began) {
    ASSERT_TRUE(import("7 openat(AT_FDCWD</tmp>, \"x\", O_RDWR) = 6</tmp/x>\n"
                       "7 clone(child_stack=0x1, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD) = 8\n"
                       "7 write(6</tmp/x>, \"abc\", 3 <unfinished ...>\n"
                       "8 write(6</tmp/x>, \"de\", 2) = 2\n"
                       "7 <... write resumed>) = 3\n"
                       "8 write(6</tmp/x>, \"f\", 1) = 1\n")
                    .ok());
    const auto events = records<schema::SyscallEvent>();
    constexpr auto kHasOffset = schema::SyscallEvent::kHasFileOffset;
    EXPECT_EQ(events[2].present & kHasOffset, 0u);
    EXPECT_EQ(events[3].present & kHasOffset, 0u);
    EXPECT_EQ(events[4].file_offset, 5);
}

TEST_F(Import, ends_no_call_before_it_was_resumed) {
    ASSERT_TRUE(import("7 1795660596.000100 read(3</tmp/x>, <unfinished ...>\n"
                       "8 1795660596.000150 getpid() = 8 <0.000001>\n"
                       "7 1795660596.000200 <... read resumed>\"a\", 9) = 1 <0.000044>\n"
                       "7 1795660597.000000 read(3</tmp/x>, <unfinished ...>\n"
                       "7 1795660599.000000 <... read resumed>\"b\", 9) = 1 <0.300000>\n")
                    .ok());
    const auto events = records<schema::SyscallEvent>();
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(events[1].duration_ns, 100'000u) << "and not 44";
    EXPECT_EQ(events[2].duration_ns, 300'000'000u) << "whole seconds say less";
}

TEST_F(Import, follows_a_thread_that_replaces_its_process) {
    ASSERT_TRUE(import("7 clone(child_stack=0x1, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD) = 8\n"
                       "8 execve(\"/bin/x\", [\"x\", \"y\"], 0x1 /* 3 vars */ <unfinished ...>\n"
                       "7 pause( <unfinished ...>\n"
                       "7 +++ superseded by execve in pid 8 +++\n"
                       "7 <... execve resumed>) = 0\n"
                       "7 close(3) = -1 EBADF (Bad file descriptor)\n"
                       "7 +++ exited with 2 +++\n")
                    .ok());
    const auto events = records<schema::SyscallEvent>();
    ASSERT_EQ(events.size(), 4u);  // pause did not return
    EXPECT_EQ(events[1].state, static_cast<std::uint8_t>(schema::State::kUnfinished));
    const auto ends = records<schema::ThreadEnd>();
    ASSERT_EQ(ends.size(), 2u);
    EXPECT_EQ(ends[0].tid, 8u);
    EXPECT_EQ(ends[1].tid, 7u);
    EXPECT_EQ(ends[1].exit_code, 2 << 8);
    const auto contexts = records<schema::TaskContext>();
    EXPECT_STREQ(reinterpret_cast<const char*>(contexts.back().comm), "x");
    EXPECT_EQ(contexts.back().pid, 7u);
}

TEST_F(Import, copies_descriptors_and_closes_them_as_the_kernel_does) {
    ASSERT_TRUE(import("7 openat(AT_FDCWD, \"/tmp/x\", O_RDONLY|O_CLOEXEC) = 3\n"
                       "7 dup2(3, 9) = 9\n"
                       "7 fork() = 8\n"
                       "8 read(9, \"ab\", 10) = 2\n"
                       "7 read(3, \"cd\", 10) = 2\n"
                       "8 execve(\"/bin/x\", [\"x\"], NULL) = 0\n"
                       "8 read(3, \"\", 10) = -1 EBADF (Bad file descriptor)\n"
                       "8 read(9, \"ef\", 10) = 2\n"
                       "8 close_range(3, 4294967295, 0) = 0\n"
                       "8 read(9, \"\", 10) = -1 EBADF (Bad file descriptor)\n")
                    .ok());
    const auto events = records<schema::SyscallEvent>();
    ASSERT_EQ(events.size(), 10u);
    EXPECT_EQ(events[3].file_offset, 0);
    EXPECT_EQ(events[4].file_offset, 2);  // one open file
    EXPECT_EQ(events[6].present & schema::SyscallEvent::kHasHandle, 0u);
    EXPECT_EQ(events[7].file_offset, 4);
    EXPECT_EQ(events[7].handle_id, events[3].handle_id);
    EXPECT_EQ(events[9].present & schema::SyscallEvent::kHasHandle, 0u);
}

TEST_F(Import, ends_what_the_log_leaves_under_way) {
    ASSERT_TRUE(
        import("7 close(3) = 0\n7 poll([{fd=3, events=POLLIN}], 1, -1 <unfinished ...>\n").ok());
    const auto events = records<schema::SyscallEvent>();
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[1].state, static_cast<std::uint8_t>(schema::State::kUnfinished));
    EXPECT_EQ(events[1].present & schema::SyscallEvent::kHasResult, 0u);
}

}  // namespace
}  // namespace dyetrace::importer
