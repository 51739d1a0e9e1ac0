#include "filter/evaluator.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "filter/random_cases.h"
#include "filter/short_forms.h"

namespace dyetrace::filter {
namespace {

using schema::Attachment;
using schema::Dictionary;
using schema::SyscallEvent;

// One task, one file, one connection, one directory.
class Evaluation : public testing::Test {
  protected:
    Evaluation() : dictionary_(3) {
        schema::TaskContext task{};
        task.context_id = 1;
        task.pid = 70;
        task.tid = 71;
        task.uid = 1000;
        task.process_start_ns = 1u << 26;
        put_text(task.comm, "curl");
        add(schema::build(
            task, {{Attachment::kExe, "/usr/bin/curl"}, {Attachment::kCgroup, "/lxc/box/x"}}));
        add_handle(10, schema::ObjectType::kFile, "/var/log/a\\b\xff");
        add_handle(11, schema::ObjectType::kDirectory, "/var/log");
        add_handle(12, schema::ObjectType::kSocket, "socket:[5]");
        schema::Socket socket{};
        socket.handle_id = 12;
        socket.family = AF_INET;
        socket.local_port = 40000;
        socket.remote_port = 443;
        socket.connection_id = 77;
        socket.remote_address[0] = 10;
        socket.remote_address[3] = 7;
        add(schema::build(socket));
        add_handle(13, schema::ObjectType::kSocket, "socket:[6]");
        socket = {};
        socket.handle_id = 13;
        socket.family = AF_UNIX;
        add(schema::build(socket));
    }

    void add(const schema::OwnedRecord& record) { ASSERT_TRUE(dictionary_.add(record.bytes())); }

    void add_handle(std::uint32_t id, schema::ObjectType type, std::string_view path) {
        schema::Handle handle{};
        handle.handle_id = id;
        handle.object_id = id + 100;
        handle.object_type = static_cast<std::uint8_t>(type);
        put_text(handle.file_system, "ext4");
        add(schema::build(handle, {{Attachment::kPath, path}}));
    }

    static SyscallEvent read_of(std::uint32_t handle) {
        SyscallEvent e{};
        e.header.sequence = 9;
        e.context_id = 1;
        e.syscall = 0;
        e.handle_id = handle;
        e.result = 4096;
        e.bytes = 4096;
        e.event_class = static_cast<std::uint8_t>(schema::Class::kFile);
        e.present = SyscallEvent::kHasResult | SyscallEvent::kHasBytes | SyscallEvent::kHasHandle;
        return e;
    }

    // '1', '0', or '-' for a condition that is unknown.
    char truth(std::string_view condition, const schema::OwnedRecord& record) const {
        const Predicate predicate = Predicate::parse(condition).value();
        const Predicate opposite = Predicate::of(negation(predicate.expression()));
        const bool yes = Evaluator(predicate, "node-3").matches(record.bytes(), 2, dictionary_);
        const bool no = Evaluator(opposite, "node-3").matches(record.bytes(), 2, dictionary_);
        EXPECT_FALSE(yes && no);
        return yes ? '1' : no ? '0' : '-';
    }

    Dictionary dictionary_;
};

TEST_F(Evaluation, knows_the_columns_of_a_read) {
    const auto record = schema::build(read_of(10));
    EXPECT_EQ(
        truth("name = 'read' and class = 'file' and kind = 'syscall' and abi = 'x86_64'", record),
        '1');
    EXPECT_EQ(truth("bytes = 4096 and result between 1 and 5000 and error is null", record), '1');
    EXPECT_EQ(truth("pid = 70 and tid = 71 and uid = 1000 and comm = 'curl'", record), '1');
    EXPECT_EQ(truth("exe like '/usr/%' and container = 'lxc/box' and host = 'node-3'", record),
              '1');
    EXPECT_EQ(truth("process_id = 54043195532640326", record), '1');  // 3 << 54 | 1 << 22 | 70
    EXPECT_EQ(truth("event_id = 54051991621468169 and cpu = 2", record),
              '1');  // 3 << 54 | 2 << 42 | 9
    EXPECT_EQ(
        truth("object_type = 'file' and file_system = 'ext4' and object_id = 54043195528446062",
              record),
        '1');
    EXPECT_EQ(truth("fd = 3", record), '-');
    EXPECT_EQ(truth("duration_ns > 5 or uid = 0", record), '-');
    EXPECT_EQ(truth("duration_ns > 5 or uid = 1000", record), '1');
    EXPECT_EQ(truth("span_id = 1", record), '-');
    EXPECT_EQ(truth("weight = 1", record), '1');
}

TEST_F(Evaluation, compares_paths_as_they_are_shown) {
    const auto record = schema::build(read_of(10));
    EXPECT_EQ(truth("path = '/var/log/a\\\\b\\xff'", record), '1');
    EXPECT_EQ(truth("path = '/var/log/a\\b\\xff'", record), '0');
    EXPECT_EQ(truth("path glob '/var/*ff'", record), '1');
    EXPECT_EQ(truth("path like '/var/log/a__b____'", record), '1');
    ShortForms forms;
    forms.paths = {"/var/log/a\\b\xff"};
    EXPECT_TRUE(Evaluator(predicate_of(forms).value()).matches(record.bytes(), 2, dictionary_));
    forms.paths = {"/var/*a\\\\b\xff"};
    EXPECT_TRUE(Evaluator(predicate_of(forms).value()).matches(record.bytes(), 2, dictionary_));
    forms.paths = {"/var/*a\\b\xff"};  // \b is a plain b
    EXPECT_FALSE(Evaluator(predicate_of(forms).value()).matches(record.bytes(), 2, dictionary_));
}

TEST_F(Evaluation, joins_a_relative_name_to_its_directory) {
    SyscallEvent e = read_of(11);
    e.present |= SyscallEvent::kHasNamesBase;
    const auto record = schema::build(e, {{Attachment::kPath, "../lib//./x"}});
    EXPECT_EQ(truth("path = '/var/lib/x'", record), '1');
    EXPECT_EQ(truth("argument_path = '../lib//./x'", record), '1');
    EXPECT_EQ(truth("object_id = 1", record), '-');
    EXPECT_EQ(plain_path("/.."), "/");
    EXPECT_EQ(plain_path("a/b"), "a/b");
    EXPECT_EQ(plain_path("a/"), "/a");
}

TEST_F(Evaluation, takes_the_other_end_from_the_message_first) {
    EXPECT_EQ(truth("remote_address = '10.0.0.7' and remote_port = 443 and local_port = 40000",
                    schema::build(read_of(12))),
              '1');
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(53);
    const std::string_view address(reinterpret_cast<const char*>(&in), sizeof(in));
    EXPECT_EQ(truth("remote_address = '0.0.0.0' and remote_port = 53",
                    schema::build(read_of(12), {{Attachment::kAddress, address}})),
              '1');
}

TEST_F(Evaluation, takes_the_ends_of_the_second_object_where_only_that_is_a_socket) {
    SyscallEvent splice = read_of(10);
    splice.present |= SyscallEvent::kHasHandle2;
    splice.handle2_id = 12;
    const std::string_view ends = "remote_address = '10.0.0.7' and remote_port = 443";
    EXPECT_EQ(truth(ends, schema::build(splice)), '1');
    EXPECT_EQ(truth("connection_id = 77", schema::build(splice)), '1');
    EXPECT_EQ(truth("object_type = 'file'", schema::build(splice)), '1');
    splice.handle_id = 13;
    EXPECT_EQ(truth(ends, schema::build(splice)), '-');
}

TEST_F(Evaluation, knows_nothing_of_what_was_not_announced) {
    SyscallEvent e = read_of(99);
    e.context_id = 99;
    const auto record = schema::build(e);
    EXPECT_EQ(truth("pid = 70", record), '-');
    EXPECT_EQ(truth("path is null and comm is null", record), '1');
    EXPECT_EQ(truth("bytes = 4096", record), '1');
}

TEST_F(Evaluation, asks_again_when_a_name_comes_late) {
    const Evaluator evaluator(Predicate::parse("path glob '/late/*'").value());
    const auto record = schema::build(read_of(20));
    EXPECT_FALSE(evaluator.matches(record.bytes(), 0, dictionary_));
    add_handle(20, schema::ObjectType::kFile, "/late/x");
    EXPECT_TRUE(evaluator.matches(record.bytes(), 0, dictionary_));
    EXPECT_TRUE(evaluator.matches(record.bytes(), 0, dictionary_));
}

TEST_F(Evaluation, selects_no_other_records) {
    const Evaluator all{Predicate()};
    schema::Gap gap{};
    EXPECT_FALSE(all.matches(schema::build(gap).bytes(), 0, dictionary_));
    EXPECT_FALSE(all.matches({}, 0, dictionary_));
    EXPECT_TRUE(all.matches(schema::build(read_of(10)).bytes(), 0, dictionary_));
}

TEST_F(Evaluation, what_a_signal_interrupted_is_no_error_of_the_return_from_it) {
    SyscallEvent e = read_of(10);
    e.result = -4;
    EXPECT_EQ(truth("error = 'EINTR' and result = -4", schema::build(e)), '1');
    e.syscall = 15;  // rt_sigreturn
    EXPECT_EQ(truth("error is null and result = -4", schema::build(e)), '1');
    EXPECT_EQ(truth("error = 'EINTR'", schema::build(e)), '-');
}

TEST_F(Evaluation, short_forms_are_sql) {
    ShortForms forms;
    EXPECT_TRUE(predicate_of(forms).value().selects_all());
    forms.pids = {70, 71};
    forms.comms = {"curl", "pg*"};
    forms.ports = {443};
    forms.errors = true;
    forms.longer_ns = 1'000'000;
    forms.where = "uid = 0 or uid = 1";
    EXPECT_EQ(predicate_of(forms).value().to_sql(),
              "pid IN (70, 71) AND (comm = 'curl' OR comm GLOB 'pg*') AND (local_port = 443 OR "
              "remote_port = 443) AND "
              "error IS NOT NULL AND NOT (error IN ('ERESTART', 'EALREADY', 'EINPROGRESS', "
              "'ERESTARTSYS', 'ERESTARTNOINTR', 'ERESTARTNOHAND', 'ERESTART_RESTARTBLOCK') OR "
              "(error = 'EAGAIN' AND class NOT IN ('process', 'memory'))) AND "
              "duration_ns > 1000000 AND (uid = 0 OR uid = 1)");
    forms.where = "uid =";
    EXPECT_FALSE(predicate_of(forms).ok());
}

// What an evaluator remembers must not change what it says.
TEST(Evaluator, says_the_same_with_and_without_memory) {
    constexpr std::uint64_t kSeed = 21;
    RandomCases cases(kSeed);
    Dictionary dictionary(3);
    for (const auto& record : cases.world()) {
        dictionary.add(record.bytes());
    }
    std::vector<schema::OwnedRecord> events;
    for (std::uint64_t i = 0; i < 200; ++i) {
        events.push_back(cases.event(i));
    }
    int selected = 0;
    for (int i = 0; i < 500; ++i) {
        const auto predicate = Predicate::parse(cases.condition());
        if (!predicate.ok()) {
            continue;
        }
        const Evaluator evaluator(predicate.value(), "node-3");
        for (const auto& event : events) {
            const bool first =
                Evaluator(predicate.value(), "node-3").matches(event.bytes(), 2, dictionary);
            ASSERT_EQ(evaluator.matches(event.bytes(), 2, dictionary), first)
                << "seed " << kSeed << ": " << predicate.value().to_sql();
            selected += first ? 1 : 0;
        }
    }
    EXPECT_GT(selected, 10'000);
}

TEST(ShortForms, resolve_a_path_but_not_a_glob) {
    const std::filesystem::path folder =
        std::filesystem::canonical(std::filesystem::temp_directory_path()) /
        fmt::format("dyetrace-paths-{}", getpid());
    std::filesystem::create_directories(folder / "real");
    std::filesystem::create_directory_symlink("real", folder / "link");
    const std::string base = folder.string();
    using Names = std::vector<std::string>;
    EXPECT_EQ(path_meanings(base + "/link/x"), (Names{base + "/link/x", base + "/real/x"}));
    EXPECT_EQ(path_meanings(base + "/./real/"), Names{base + "/real"});
    EXPECT_EQ(path_meanings("*.db"), Names{"*.db"});
    EXPECT_EQ(path_meanings("no-such-file"),
              Names{(std::filesystem::current_path() / "no-such-file").string()});
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace dyetrace::filter
