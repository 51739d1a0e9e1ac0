#include "trace/trace_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "trace/segment_fixture.h"

namespace dyetrace::trace {
namespace {

TEST(TraceFolder, is_read_as_it_was_made) {
    const auto temporary = base::TemporaryFolder::make().value();
    TraceInfo info = info_of_one_host();
    info.options = {{"command", "cat"}, {"command", "a \"b\"\n"}, {"where", "\xc3\xa9"}};
    const TraceFolder made = TraceFolder::create(temporary.path() + "/t", info).value();
    const TraceFolder opened = TraceFolder::open(temporary.path() + "/t").value();
    EXPECT_EQ(opened.info().hosts, info.hosts);
    EXPECT_EQ(opened.info().recorder_pid, ::getpid());
    EXPECT_GT(opened.info().recorder_start_ticks, 0u);
    EXPECT_EQ(opened.info().options, info.options);
}

TEST(TraceFolder, does_not_take_a_folder_with_something_in_it) {
    const auto temporary = base::TemporaryFolder::make().value();
    EXPECT_TRUE(TraceFolder::expect_free(temporary.path()).ok());
    EXPECT_TRUE(TraceFolder::expect_free(temporary.path() + "/not_there").ok());
    base::write_file_atomically(temporary.path() + "/x", "").value();
    EXPECT_EQ(TraceFolder::expect_free(temporary.path()).error().code(), ErrorCode::kAlreadyExists);
    EXPECT_EQ(TraceFolder::create(temporary.path(), info_of_one_host()).error().code(),
              ErrorCode::kAlreadyExists);
    EXPECT_EQ(TraceFolder::open(temporary.path()).error().text(),
              "'" + temporary.path() + "' is no trace: it has no trace.json");
}

TEST(TraceFolder, is_no_file_and_no_device) {
    const auto temporary = base::TemporaryFolder::make().value();
    const std::string file = temporary.path() + "/x";
    base::write_file_atomically(file, "").value();
    EXPECT_EQ(TraceFolder::open(file).error().text(),
              "'" + file + "' is a file; a trace is a folder");
    EXPECT_EQ(TraceFolder::open("/dev/null").error().text(),
              "'/dev/null' is no folder; a trace is a folder");
    EXPECT_EQ(TraceFolder::expect_free(file).error().text(),
              "'" + file + "' is there and no folder: take another name");
}

TEST(TraceFolder, is_no_place_for_outputs) {
    const auto temporary = base::TemporaryFolder::make().value();
    const std::string trace = temporary.path() + "/t";
    TraceFolder::create(trace, info_of_one_host()).value();
    std::filesystem::create_symlink(trace, temporary.path() + "/link");
    for (const char* place : {"", "/", "/trace.json", "/not/there", "/../t/x"}) {
        for (const std::string& name : {trace, temporary.path() + "/link"}) {
            EXPECT_EQ(TraceFolder::expect_outside(name + place).error().code(),
                      ErrorCode::kInvalidArgument)
                << name << place;
        }
    }
    base::write_file_atomically(temporary.path() + "/trace.json", "another's").value();
    for (const char* name : {"/trace.json", "/t.csv", "/no/where", "/t/../x"}) {
        EXPECT_TRUE(TraceFolder::expect_outside(temporary.path() + name).ok()) << name;
    }
    EXPECT_TRUE(TraceFolder::expect_outside("").ok());
    EXPECT_TRUE(TraceFolder::expect_outside("/dev/null").ok());
}

TEST(TraceFolder, can_be_taken_back_and_then_be_made_again) {
    const auto temporary = base::TemporaryFolder::make().value();
    const std::string made = temporary.path() + "/made", found = temporary.path() + "/found";
    std::filesystem::create_directory(found);
    for (const std::string& path : {made, found, made}) {
        TraceFolder folder = TraceFolder::create(path, info_of_one_host()).value();
        ASSERT_TRUE(SegmentWriter::create(folder, 0).ok());
        folder.discard();
    }
    EXPECT_EQ(base::list_folder(temporary.path()).value(), std::vector<std::string>{"found"});
    EXPECT_TRUE(base::list_folder(found).value().empty());
}

TEST(TraceFolder, is_recording_while_its_recorder_lives_and_finished_when_it_says_so) {
    const auto temporary = base::TemporaryFolder::make().value();
    TraceFolder recorder = TraceFolder::create(temporary.path() + "/t", info_of_one_host()).value();
    TraceFolder reader = TraceFolder::open(temporary.path() + "/t").value();
    EXPECT_EQ(reader.current_state().value(), TraceState::kRecording);
    recorder.finish().value();
    EXPECT_EQ(reader.current_state().value(), TraceState::kFinished);
    EXPECT_EQ(base::list_folder(temporary.path() + "/t").value(),
              std::vector<std::string>{"trace.json"});
}

TEST(TraceFolder, knows_that_its_recorder_was_killed) {
    const auto temporary = base::TemporaryFolder::make().value();
    const std::string path = temporary.path() + "/t";
    const pid_t child = ::fork();
    if (child == 0) {
        const auto folder = TraceFolder::create(path, info_of_one_host());
        ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    TraceFolder reader = TraceFolder::open(path).value();
    EXPECT_EQ(reader.current_state().value(), TraceState::kDied);
    reader.mark_died().value();
    EXPECT_EQ(reader.current_state().value(), TraceState::kDied);
    EXPECT_EQ(reader.info().state, TraceState::kDied);
}

TEST(TraceFolder, lists_each_segment_once) {
    SegmentFixture trace;
    const auto touch = [&](const std::string& name) {
        base::write_file_atomically(trace.path() + "/" + name, "").value();
    };
    for (const char* name : {"segment-000002.seg",
                             "segment-000003.seg",
                             "segment-000005.seg",
                             "segment-1000000.seg",
                             "segment-x.seg",
                             "segment-000009.seg.new",
                             "segment-99999999999999999999.seg"}) {
        touch(name);
    }
    for (const char* name : {"sealed-000000", "sealed-000001", "sealed-000002", "sealing-000003"}) {
        std::filesystem::create_directory(trace.path() + "/" + name);
    }
    const SegmentList list = trace.folder().list().value();
    EXPECT_EQ(list.sealed, (std::vector<std::uint64_t>{1, 2}));
    EXPECT_EQ(list.recorded, (std::vector<std::uint64_t>{3, 5, 1'000'000}));
    EXPECT_EQ(list.missing().front(), 4u);
}

TEST(TraceInfo, of_a_newer_format_or_with_an_unknown_feature_is_refused_with_one_line) {
    const std::string good = to_json(info_of_one_host());
    ASSERT_TRUE(parse_trace_info(good).ok());
    std::string newer = good;
    newer.replace(newer.find("\"format_version\": 0"), 19, "\"format_version\": 7");
    EXPECT_EQ(parse_trace_info(newer).error().text(),
              "the trace has format 7 and this dyetrace reads up to 0: use a newer dyetrace");
    std::string feature = good;
    feature.replace(feature.find("\"must_understand\": []"), 21, "\"must_understand\": [\"x\"]");
    EXPECT_EQ(parse_trace_info(feature).error().code(), ErrorCode::kUnsupported);
}

TEST(TraceInfo, of_many_hosts_has_none_of_its_own) {
    TraceInfo parts;
    parts.program = "test";
    parts.has_parts = true;
    EXPECT_EQ(parse_trace_info(to_json(parts)).value(), parts);
    TraceInfo both = info_of_one_host();
    both.has_parts = true;
    EXPECT_EQ(parse_trace_info(to_json(both)).error().code(), ErrorCode::kCorrupt);
    TraceInfo neither = parts;
    neither.has_parts = false;
    EXPECT_EQ(parse_trace_info(to_json(neither)).error().code(), ErrorCode::kCorrupt);
}

TEST(TraceInfo, cut_at_any_byte_is_refused_and_never_aborts) {
    const std::string good = to_json(info_of_one_host());
    for (std::size_t size = 0; size + 2 < good.size(); ++size) {
        EXPECT_FALSE(parse_trace_info(good.substr(0, size)).ok()) << size;
    }
    EXPECT_FALSE(
        parse_trace_info(
            R"({"format_version":0,"state":"recording","program":"","hosts":[{"index":512}]})")
            .ok());
}

}  // namespace
}  // namespace dyetrace::trace
