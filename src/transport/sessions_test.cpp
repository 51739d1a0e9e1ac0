#include "transport/sessions.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/clock.h"
#include "base/file.h"
#include "base/temporary_folder.h"
#include "trace/codec.h"
#include "trace/trace_info.h"
#include "transport/limits.h"

namespace dyetrace::transport {
namespace {

constexpr const char* kSegment = "segment-000001.seg";

fleet::Hello hello_of(const std::string& host) {
    fleet::Hello hello;
    hello.set_protocol(kProtocolVersion);
    hello.set_host(host);
    return hello;
}

// A collector without a network: what it says is kept, by host.
class SessionsTest : public ::testing::Test {
  protected:
    SessionsTest() { restart(); }

    void restart() {
        sessions.reset();
        sessions = std::make_unique<Sessions>(
            temporary.path(),
            [this](const std::string& host, const fleet::ToAgent& message) {
                said[host].push_back(message);
            },
            [](const std::string&) {},
            log);
        ASSERT_TRUE(sessions->load().ok());
    }

    // A session of host a that records.
    void begin() {
        sessions->connect("a", hello_of("a"));
        fleet::RecordRequest request;
        request.set_name("t");
        request.add_hosts("a");
        id = sessions->begin(request).value();
        status(fleet::READY);
        sessions->tick(base::boot_time_ns());
        status(fleet::RECORDING);
        sessions->tick(base::boot_time_ns());
        said.clear();
    }

    void status(fleet::Phase phase, const std::string& text = "") { status_of("a", phase, text); }
    void status_of(const std::string& host, fleet::Phase phase, const std::string& text = "") {
        fleet::Status status;
        status.set_session(id);
        status.set_phase(phase);
        status.set_text(text);
        sessions->take(host, status);
    }

    fleet::Chunk chunk(std::uint64_t offset, const std::string& data, const char* file = kSegment) {
        fleet::Chunk chunk;
        chunk.set_session(id);
        chunk.set_file(file);
        chunk.set_offset(offset);
        chunk.set_data(data);
        chunk.set_checksum(trace::checksum(base::bytes_of(data)));
        return chunk;
    }

    fleet::Chunk info(std::uint16_t index) {
        trace::TraceInfo info;
        info.hosts.emplace_back().index = index;
        fleet::Chunk whole = chunk(0, trace::to_json(info), "trace.json");
        whole.set_whole(true);
        return whole;
    }

    std::string part(const std::string& file) const {
        return temporary.path() + "/t/host-0000/" + file;
    }
    std::string arrived() const { return base::read_file(part(kSegment), 1 << 20).value_or(""); }

    // The last thing said to a, and nothing else.
    fleet::ToAgent only_word() {
        EXPECT_EQ(said["a"].size(), 1u);
        fleet::ToAgent word = said["a"].empty() ? fleet::ToAgent() : said["a"].back();
        said.clear();
        return word;
    }

    base::TemporaryFolder temporary = base::TemporaryFolder::make().value();
    base::Fd silence = base::open_file("/dev/null", O_WRONLY).value();
    base::Log log{silence.get(), false};
    std::map<std::string, std::vector<fleet::ToAgent>> said;
    std::unique_ptr<Sessions> sessions;
    std::string id;
};

TEST_F(SessionsTest, tells_all_hosts_to_begin_when_the_last_is_ready) {
    sessions->connect("a", hello_of("a"));
    sessions->connect("b", hello_of("b"));
    id = sessions->begin({}).value();
    EXPECT_TRUE(said["a"].back().has_prepare());
    EXPECT_EQ(said["a"].back().prepare().host_index(), 0u);
    EXPECT_EQ(said["b"].back().prepare().host_index(), 1u);
    said.clear();
    status(fleet::READY);
    sessions->tick(base::boot_time_ns());
    EXPECT_TRUE(said.empty()) << "b is not ready";
    status_of("b", fleet::READY);
    sessions->tick(base::boot_time_ns());
    EXPECT_EQ(said["a"].back().go(), id);
    EXPECT_EQ(said["b"].back().go(), id);
}

TEST_F(SessionsTest, a_host_that_is_not_ready_in_time_ends_the_session_and_leaves_no_folder) {
    sessions->connect("a", hello_of("a"));
    fleet::RecordRequest request;
    request.set_name("t");
    id = sessions->begin(request).value();
    sessions->tick(base::boot_time_ns() + kReadyNsMax + 1);
    EXPECT_EQ(said["a"].back().stop(), id);
    status(fleet::FAILED, "stopped");
    EXPECT_TRUE(sessions->find(id)->is_over());
    EXPECT_NE(sessions->find(id)->failure.find("a was not ready after 60 s"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(temporary.path() + "/t"));
}

TEST_F(SessionsTest, appends_each_byte_once) {
    begin();
    sessions->take("a", chunk(0, "one"));
    sessions->take("a", chunk(0, "one"));
    sessions->take("a", chunk(0, "one two"));
    sessions->take("a", chunk(7, " three"));
    EXPECT_EQ(arrived(), "one two three");
    EXPECT_TRUE(said.empty());
    const std::vector<UnsyncedFile> unsynced = sessions->take_unsynced();
    ASSERT_EQ(unsynced.size(), 1u);
    sessions->acknowledge(unsynced.front());
    EXPECT_EQ(only_word().acknowledged().size(), 13u);
}

TEST_F(SessionsTest,
       puts_trace_json_in_its_place_when_it_is_durable_and_acknowledges_only_the_last) {
    begin();
    sessions->take("a", info(0));
    std::vector<UnsyncedFile> first = sessions->take_unsynced();
    ASSERT_EQ(first.size(), 1u);
    EXPECT_FALSE(first.front().file.folder.empty()) << "a new name";
    sessions->take("a", info(0));  // another, while the disk is waited for
    sessions->put_in_place(first);
    EXPECT_TRUE(first.empty());
    EXPECT_FALSE(std::filesystem::exists(part("trace.json")));
    std::vector<UnsyncedFile> second = sessions->take_unsynced();
    sessions->put_in_place(second);
    ASSERT_EQ(second.size(), 1u);
    EXPECT_TRUE(std::filesystem::exists(part("trace.json")));
    EXPECT_TRUE(said.empty());
    sessions->acknowledge(second.front());
    EXPECT_EQ(only_word().acknowledged().size(), info(0).data().size());
    EXPECT_TRUE(sessions->take_unsynced().empty());
}

// It would delete what it is told.
TEST_F(SessionsTest, tells_an_agent_that_comes_back_only_what_is_durable) {
    begin();
    sessions->take("a", chunk(0, "one"));
    const std::vector<UnsyncedFile> synced = sessions->take_unsynced();
    sessions->acknowledge(synced.front());
    sessions->take("a", chunk(3, " two"));
    said.clear();
    fleet::Hello hello = hello_of("a");
    hello.add_sessions(id);
    sessions->disconnect("a");
    sessions->connect("a", hello);
    ASSERT_EQ(said["a"].size(), 2u);
    ASSERT_EQ(said["a"][1].resume().files_size(), 1);
    EXPECT_EQ(said["a"][1].resume().files(0).size(), 3u);
    sessions->take("a", chunk(3, " two"));
    EXPECT_EQ(arrived(), "one two");
}

TEST_F(SessionsTest, asks_once_for_what_is_missing_before_a_chunk) {
    begin();
    sessions->take("a", chunk(0, "one"));
    sessions->take("a", chunk(10, "later"));
    sessions->take("a", chunk(15, "still later"));
    EXPECT_EQ(only_word().again().size(), 3u);
    EXPECT_EQ(arrived(), "one");
    sessions->take("a", chunk(3, " two"));
    sessions->take("a", chunk(20, "a second hole"));
    EXPECT_EQ(only_word().again().size(), 7u);
}

TEST_F(SessionsTest, refuses_a_damaged_chunk_and_says_where_to_go_on) {
    begin();
    sessions->take("a", chunk(0, "one"));
    fleet::Chunk damaged = chunk(3, " two");
    damaged.set_data(" twi");
    sessions->take("a", damaged);
    EXPECT_EQ(only_word().again().size(), 3u);
    EXPECT_EQ(arrived(), "one");
}

TEST_F(SessionsTest, writes_nothing_but_the_files_of_a_trace) {
    begin();
    for (const char* file : {"../trace.json",
                             "segment-000001.seg/../../x",
                             "segment-1.seg",
                             "segment-00000a.seg",
                             "segment-99999999.seg",
                             "recording",
                             "trace.json",
                             "",
                             "/etc/passwd"}) {
        sessions->take("a", chunk(0, "x", file));
        EXPECT_TRUE(only_word().has_again()) << file;
    }
    fleet::Chunk whole = info(0);
    whole.set_file("../session.json");
    sessions->take("a", whole);
    EXPECT_TRUE(only_word().has_again());
    sessions->take("a", info(7));
    EXPECT_TRUE(only_word().has_again()) << "another host's index";
    EXPECT_FALSE(std::filesystem::exists(part("trace.json")));
    sessions->take("a", chunk(0, std::string(kChunkBytesMax + 1, 'x')));
    EXPECT_TRUE(only_word().has_again()) << "too large";
}

TEST_F(SessionsTest, a_collector_that_comes_back_says_what_it_has) {
    begin();
    sessions->take("a", info(0));
    sessions->take("a", chunk(0, "one two"));
    said.clear();
    restart();
    fleet::Hello hello = hello_of("a");
    hello.add_sessions(id);
    sessions->connect("a", hello);
    ASSERT_EQ(said["a"].size(), 2u);
    EXPECT_TRUE(said["a"][0].welcome());
    const fleet::Resume& resume = said["a"][1].resume();
    ASSERT_EQ(resume.files_size(), 1);
    EXPECT_EQ(resume.files(0).file(), kSegment);
    EXPECT_EQ(resume.files(0).size(), 7u);
    EXPECT_FALSE(resume.stop());
    sessions->take("a", chunk(3, " two three"));
    EXPECT_EQ(arrived(), "one two three");
}

TEST_F(SessionsTest, an_agent_keeps_what_nobody_knows_and_deletes_what_is_whole) {
    begin();
    sessions->take("a", info(0));
    said.clear();
    status(fleet::ENDED, "all is well");
    EXPECT_EQ(only_word().forget(), id);
    sessions->take("a", chunk(0, "too late"));
    EXPECT_EQ(only_word().forget(), id);
    id = "of-another-collector";
    sessions->take("a", chunk(0, "x"));
    EXPECT_EQ(only_word().unknown(), id);
}

TEST_F(SessionsTest, what_arrived_stays_though_collector_and_agent_die) {
    begin();
    sessions->take("a", info(0));
    sessions->take("a", chunk(0, "one"));
    restart();
    sessions->connect("a", hello_of("a"));  // its spool is gone
    ASSERT_TRUE(sessions->stop(id).ok());
    sessions->tick(base::boot_time_ns());
    EXPECT_TRUE(sessions->find(id)->is_over());
    EXPECT_TRUE(trace::TraceFolder::open(temporary.path() + "/t").ok());
    EXPECT_EQ(arrived(), "one");
}

TEST_F(SessionsTest, a_state_that_nobody_knows_costs_no_session) {
    begin();
    for (const int phase : {fleet::LOST + 1, 99, -1}) {
        status(static_cast<fleet::Phase>(phase));
    }
    sessions->tick(base::boot_time_ns());
    restart();
    ASSERT_NE(sessions->find(id), nullptr);
    EXPECT_EQ(sessions->find(id)->parts.at("a").phase, fleet::RECORDING);
}

TEST_F(SessionsTest, a_session_ends_when_its_last_host_has) {
    begin();
    sessions->take("a", info(0));
    ASSERT_TRUE(sessions->stop(id).ok());
    EXPECT_EQ(said["a"].back().stop(), id);
    EXPECT_FALSE(sessions->find(id)->is_over());
    status(fleet::ENDED);
    EXPECT_TRUE(sessions->find(id)->is_over());
    EXPECT_FALSE(std::filesystem::exists(part("recording"))) << "nobody records it any more";
    EXPECT_EQ(trace::TraceFolder::open(temporary.path() + "/t").value().info().state,
              trace::TraceState::kFinished);
}

// A collector that dies now and comes back would else take them for lost.
TEST_F(SessionsTest, hosts_that_end_together_delete_when_that_is_written_down) {
    for (const char* host : {"a", "b", "c"}) {
        sessions->connect(host, hello_of(host));
    }
    fleet::RecordRequest request;
    request.set_name("t");
    id = sessions->begin(request).value();
    for (const fleet::Phase phase : {fleet::READY, fleet::RECORDING}) {
        for (const char* host : {"a", "b", "c"}) {
            status_of(host, phase);
        }
        sessions->tick(base::boot_time_ns());
    }
    sessions->take("a", info(0));
    ASSERT_TRUE(sessions->stop(id).ok());
    said.clear();
    status_of("a", fleet::ENDED);
    EXPECT_EQ(only_word().forget(), id) << "the first is written down at once";
    status_of("b", fleet::ENDED);
    status_of("c", fleet::ENDED);
    EXPECT_TRUE(said.empty()) << "the others together";
    const auto written = [&] {
        return base::read_file(temporary.path() + "/t/session.json", 1 << 20).value();
    };
    const std::string before = written();
    EXPECT_FALSE(sessions->find(id)->is_over());
    sessions->tick(base::boot_time_ns());
    EXPECT_EQ(said["b"].back().forget(), id);
    EXPECT_EQ(said["c"].back().forget(), id);
    EXPECT_NE(written(), before);
    EXPECT_TRUE(sessions->find(id)->is_over());
}

TEST_F(SessionsTest, what_an_operator_is_told_of_many_hosts_fits_into_a_message) {
    std::string words;
    while (words.size() < kStatusTextBytesMax) {
        words += "µ";
    }
    for (std::size_t i = 0; i < kAgentsMax; ++i) {
        sessions->connect("h" + std::to_string(i), hello_of("h" + std::to_string(i)));
    }
    for (std::size_t session = 0; session < 8; ++session) {
        id = sessions->begin({}).value();
        for (std::size_t i = 0; i < kAgentsMax; ++i) {
            status_of("h" + std::to_string(i), fleet::PREPARING, words);
        }
    }
    const fleet::RecordProgress progress = sessions->progress(*sessions->find(id));
    EXPECT_LT(progress.ByteSizeLong(), kMessageBytesMax);
    EXPECT_EQ(progress.hosts_size(), static_cast<int>(kAgentsMax));
    EXPECT_GT(progress.hosts(0).text().size(), 256u) << "enough for people";
    EXPECT_TRUE(fleet::RecordProgress().ParseFromString(progress.SerializeAsString()))
        << "no half characters";
    const fleet::SessionsReply all = sessions->all();
    EXPECT_LT(all.ByteSizeLong(), kMessageBytesMax);
    ASSERT_EQ(all.sessions_size(), 8);
    for (const auto& session : all.sessions()) {
        EXPECT_EQ(static_cast<std::size_t>(session.hosts_size()) + session.hosts_left_out(),
                  kAgentsMax);
    }
}

TEST_F(SessionsTest, an_agent_that_comes_back_without_a_session_has_lost_it) {
    begin();
    sessions->take("a", info(0));
    sessions->disconnect("a");
    sessions->connect("a", hello_of("a"));
    sessions->tick(base::boot_time_ns());
    EXPECT_EQ(sessions->find(id)->parts.at("a").phase, fleet::LOST);
    ASSERT_TRUE(sessions->stop(id).ok());
    EXPECT_TRUE(sessions->find(id)->is_over());
}

TEST_F(SessionsTest, an_agent_that_never_heard_of_it_ends_a_session_that_is_starting) {
    sessions->connect("a", hello_of("a"));
    id = sessions->begin({}).value();
    sessions->disconnect("a");
    sessions->connect("a", hello_of("a"));
    sessions->tick(base::boot_time_ns());
    EXPECT_TRUE(sessions->find(id)->is_over());
    EXPECT_NE(sessions->find(id)->failure, "");
}

TEST_F(SessionsTest, an_agent_that_comes_while_all_others_prepare_joins) {
    sessions->connect("a", hello_of("a"));
    id = sessions->begin({}).value();
    sessions->connect("b", hello_of("b"));
    EXPECT_TRUE(said["b"].back().welcome()) << "it is not waited for";
    status(fleet::READY);
    sessions->tick(base::boot_time_ns());
    status(fleet::RECORDING);
    sessions->tick(base::boot_time_ns());
    EXPECT_EQ(said["b"].back().prepare().host_index(), 1u);
}

TEST_F(SessionsTest, a_session_whose_operator_is_gone_ends_after_a_while) {
    begin();
    const std::int64_t now_ns = base::boot_time_ns();
    sessions->find(id)->operator_gone_ns = now_ns;
    sessions->tick(now_ns + kOperatorGoneNsMax - 1);
    EXPECT_TRUE(said.empty());
    sessions->tick(now_ns + kOperatorGoneNsMax + 1);
    EXPECT_EQ(said["a"].back().stop(), id);
}

TEST_F(SessionsTest, refuses_more_sessions_than_its_limit) {
    sessions->connect("a", hello_of("a"));
    for (std::size_t i = 0; i < kSessionsMax; ++i) {
        fleet::RecordRequest request;
        request.set_name("t" + std::to_string(i));
        ASSERT_TRUE(sessions->begin(request).ok()) << i;
    }
    EXPECT_EQ(sessions->begin({}).error().code(), ErrorCode::kLimitReached);
}

TEST(RefuseHello, of_another_protocol_or_a_newer_format_and_says_what_to_do) {
    EXPECT_EQ(refuse_hello(hello_of("a")), "");
    fleet::Hello other = hello_of("a");
    other.set_protocol(kProtocolVersion + 1);
    EXPECT_NE(refuse_hello(other).find("use the same dyetrace on both"), std::string::npos);
    other = hello_of("a");
    other.set_trace_format(1);
    EXPECT_NE(refuse_hello(other).find("use a newer collector"), std::string::npos);
    for (const std::string& name : {std::string(),
                                    std::string("a/b"),
                                    std::string(".."),
                                    std::string("-x"),
                                    std::string(65, 'a')}) {
        EXPECT_NE(refuse_hello(hello_of(name)), "") << name;
    }
}

TEST(RefuseArgument, what_would_run_or_write_something_on_the_host) {
    for (const char* argument :
         {"-o", "-ox", "--output", "--output=x", "--control-fd", "--", "--on", "--host-name=b"}) {
        EXPECT_NE(refuse_argument(argument), "") << argument;
    }
    for (const char* argument :
         {"-a", "--all", "--where", "bytes > 1", "--only-dyed", "--content=hash"}) {
        EXPECT_EQ(refuse_argument(argument), "") << argument;
    }
}

}  // namespace
}  // namespace dyetrace::transport
