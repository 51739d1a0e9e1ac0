// Files and descriptors that several threads and processes use at once.
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "kernel/rows.h"

namespace dyetrace::test {
namespace {

class Sharing : public RowsTest {};

TEST_F(Sharing, two_writers_append_without_overlap) {
    const std::string file = make_file("log", "");
    constexpr int kWrites = 500, kBytes = 10;
    const Trace trace = record([&] {
        const pid_t other = fork();
        const int fd = open(file.c_str(), O_WRONLY | O_APPEND);
        for (int i = 0; i < kWrites; ++i) {
            REQUIRE(write(fd, "0123456789", kBytes) == kBytes);
        }
        if (other != 0) {
            REQUIRE(waitpid(other, nullptr, 0) == other);
        }
    });
    std::set<std::int64_t> offsets;
    std::set<std::uint64_t> objects;
    for (const Event& write : trace.all("write")) {
        EXPECT_EQ(laws(write), "");
        offsets.insert(write.file_offset().value());
        objects.insert(write.object_id());
    }
    EXPECT_EQ(trace.count("write"), 2u * kWrites);
    EXPECT_EQ(offsets.size(), 2u * kWrites);
    EXPECT_EQ(*offsets.rbegin(), (2 * kWrites - 1) * kBytes);
    EXPECT_EQ(objects.size(), 1u);
}

// Each word of a file says where it is; every reader keeps what it read.
constexpr int kReaders = 2, kReads = 2000;
struct ReaderLog {
    int fd;
    std::array<std::array<std::int32_t, kReads>, kReaders> places;
    std::array<pid_t, kReaders> tids;
};
struct Reader {
    ReaderLog* log;
    int number;
};

void* read_words(void* argument) {
    const auto* reader = static_cast<const Reader*>(argument);
    const auto number = static_cast<std::size_t>(reader->number);
    reader->log->tids[number] = gettid();
    for (std::int32_t& place : reader->log->places[number]) {
        REQUIRE(read(reader->log->fd, &place, sizeof(place)) == sizeof(place));
    }
    return nullptr;
}

TEST_F(Sharing, a_certain_offset_is_right_when_threads_share_a_descriptor) {
    std::array<std::int32_t, kReaders * kReads> words;
    for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] = static_cast<std::int32_t>(i * sizeof(words[0]));
    }
    const std::string file = make_file(
        "words", std::string_view(reinterpret_cast<const char*>(words.data()), sizeof(words)));
    Shared<ReaderLog> log;
    const Trace trace = record([&] {
        log->fd = open(file.c_str(), O_RDONLY);
        std::array<pthread_t, kReaders> threads;
        std::array<Reader, kReaders> readers;
        for (int i = 0; i < kReaders; ++i) {
            const auto at = static_cast<std::size_t>(i);
            readers[at] = {&*log, i};
            REQUIRE(pthread_create(&threads[at], nullptr, read_words, &readers[at]) == 0);
        }
        for (const pthread_t thread : threads) {
            REQUIRE(pthread_join(thread, nullptr) == 0);
        }
    });
    std::map<std::uint32_t, std::size_t> next;
    std::size_t certain = 0;
    for (const Event& read : trace.all("read")) {
        const std::uint32_t tid = read.task()->tid;
        const std::size_t reader = tid == static_cast<std::uint32_t>(log->tids[0]) ? 0 : 1;
        const std::int32_t place = log->places[reader].at(next[tid]++);
        if (read.offset_certain()) {
            ++certain;
            ASSERT_EQ(read.file_offset(), place);
        }
    }
    EXPECT_EQ(trace.count("read"), std::size_t{kReaders} * kReads);
    EXPECT_GT(certain, 0u);
}

// glibc from 2.41 on holds signals back around fork().
std::string without_masks(const std::string& rows) {
    std::istringstream all(rows);
    std::string left;
    for (std::string row; std::getline(all, row);) {
        left += row.find("rt_sigprocmask") == std::string::npos ? row + "\n" : "";
    }
    return left;
}

TEST_F(Sharing, a_descriptor_keeps_its_object_in_a_child) {
    const std::string file = make_file("data", "0123456789");
    const std::string shown = without_masks(rows([&] {
        char buffer[4];
        REQUIRE(open(file.c_str(), O_RDONLY) == 3);
        REQUIRE(read(3, buffer, 4) == 4);
        const pid_t child = fork();
        if (child == 0) {
            REQUIRE(read(3, buffer, 2) == 2);
            REQUIRE(close(3) == 0);
            _exit(0);
        }
        REQUIRE(waitpid(child, nullptr, 0) == child);
        REQUIRE(read(3, buffer, 4) == 4);
    }));
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/data "~/data" O_RDONLY size=10 {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
        read file =4 fd=3 #1 file ~/data O_RDONLY @0 size=10 4/4 {"count":4}
        clone process =p2 target=p2 {"clone_flags":"CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD","newsp":"0x0","tls":"0x0"}
        wait4 process =p2 target=p2 {"upid":p2,"options":"0"}
        read file =4 fd=3 #1 file ~/data O_RDONLY @6 size=10 4/4 {"count":4}
        p2 set_robust_list other =0 {"len":24}
        p2 read file =2 fd=3 #1 file ~/data O_RDONLY @4 size=10 2/2 {"count":2}
        p2 close file =0 fd=3 #1 file ~/data O_RDONLY
        p2 exit_group process unfinished {"error_code":0}
    )"));
}

TEST_F(Sharing, what_was_open_before_anybody_watched_is_known) {
    const std::string file = make_file("data", "0123456789");
    before_ = [&] {
        char buffer[4];
        int ends[2];
        REQUIRE(open(file.c_str(), O_RDONLY) == 3);
        REQUIRE(read(3, buffer, 4) == 4);
        REQUIRE(pipe(ends) == 0);
        REQUIRE(chdir(at("").c_str()) == 0);
    };
    const std::string shown = rows([&] {
        char buffer[4];
        REQUIRE(read(3, buffer, 4) == 4);
        REQUIRE(write(5, "abc", 3) == 3);
        REQUIRE(read(4, buffer, 4) == 3);
        REQUIRE(open("none", O_RDONLY) < 0);
        REQUIRE(open("data", O_RDONLY) == 6);
        REQUIRE(close(3) == 0);
    });
    EXPECT_EQ(shown, lines(R"(
        read file =4 fd=3 #1 file ~/data O_RDONLY @4 size=10 4/4 {"count":4}
        write pipe =3 fd=5 #2 pipe [pipefs] pipe:[N] O_WRONLY 3/3 {"count":3}
        read pipe =3 fd=4 #2 pipe [pipefs] pipe:[N] O_RDONLY 3/4 {"count":4}
        openat file =ENOENT ~/none "none" {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
        openat file =6 fd=6 #1 file ~/data "data" O_RDONLY size=10 {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
        close file =0 fd=3 #1 file ~/data O_RDONLY
    )"));
}

}  // namespace
}  // namespace dyetrace::test
