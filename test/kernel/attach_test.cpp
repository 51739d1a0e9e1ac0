// What began before the recording did: calls under way, members of epoll sets.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <string>
#include <thread>

#include "kernel/recorded.h"

namespace dyetrace::test {
namespace {

class Attach : public KernelTest {};

char state_of(pid_t thread) {
    std::ifstream status("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string line;
    std::getline(status, line);
    const std::size_t name_end = line.rfind(')');
    return name_end + 2 < line.size() ? line[name_end + 2] : '?';
}

// Starts a thread that reads from an empty pipe (700, 701), and then answers through another one (702, 703); returns when
// it sleeps.
void start_reader() {
    for (const int fd : {700, 702}) {
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        REQUIRE(dup2(ends[0], fd) == fd && dup2(ends[1], fd + 1) == fd + 1);
    }
    static std::atomic<pid_t> reader;
    std::thread([] {
        reader = static_cast<pid_t>(syscall(SYS_gettid));
        char byte = 0;
        REQUIRE(read(700, &byte, 1) == 1);
        REQUIRE(write(703, "x", 1) == 1);
        pause();
    }).detach();
    while (reader == 0 || state_of(reader) != 'S') {
        std::this_thread::yield();
    }
}

TEST_F(Attach, a_call_that_is_under_way_from_before_to_the_end_is_unfinished) {
    before_ = start_reader;
    const Trace trace = record_until_stopped([] {});
    const Event read = trace.only("read");
    EXPECT_FALSE(read.finished());
    EXPECT_TRUE(read.entry_missed());
    EXPECT_EQ(read.fd(), 700);
    EXPECT_EQ(read.requested(), 1);
    EXPECT_EQ(read.duration_ns(), std::nullopt);
    ASSERT_NE(read.object(), nullptr);
    EXPECT_EQ(read.object()->object_type, schema::ObjectType::kPipe);
    ASSERT_NE(read.task(), nullptr);
    EXPECT_NE(read.task()->tid, read.task()->pid);
}

TEST_F(Attach, a_call_that_began_before_and_ends_has_no_start) {
    before_ = start_reader;
    const Trace trace = record([] {
        REQUIRE(write(701, "x", 1) == 1);
        char answer = 0;
        REQUIRE(read(702, &answer, 1) == 1);
    });
    std::size_t found = 0;
    for (const Event& read : trace.all("read")) {
        if (read.entry_missed() && read.fd() == 700) {
            ++found;
            EXPECT_TRUE(read.finished());
            EXPECT_EQ(read.result(), 1);
            EXPECT_EQ(read.argument(2), 1);
            EXPECT_EQ(read.duration_ns(), std::nullopt);
        }
    }
    EXPECT_EQ(found, 1u);
}

// Waits until 700 and 702 are ready.
void wait_for_both(int set) {
    std::array<epoll_event, 2> ready{};
    REQUIRE(write(701, "x", 1) == 1 && write(703, "x", 1) == 1);
    REQUIRE(epoll_wait(set, ready.data(), 2, -1) == 2);
}

constexpr std::uint64_t kWord =
    0x7f0012345678;  // what a program that keeps a pointer there would give
constexpr int kSet = 710;

// A set of 700, by its descriptor, and of 702, by a word of the program's own.
void make_set() {
    for (const int fd : {700, 702}) {
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        REQUIRE(dup2(ends[0], fd) == fd && dup2(ends[1], fd + 1) == fd + 1);
    }
    REQUIRE(dup2(epoll_create1(0), kSet) == kSet);
    epoll_event member{};
    member.events = EPOLLIN;
    member.data.fd = 700;
    REQUIRE(epoll_ctl(kSet, EPOLL_CTL_ADD, 700, &member) == 0);
    member.data.u64 = kWord;
    REQUIRE(epoll_ctl(kSet, EPOLL_CTL_ADD, 702, &member) == 0);
}

TEST_F(Attach, a_member_of_an_epoll_set_from_before_is_named_if_its_word_is_its_descriptor) {
    before_ = make_set;
    const Trace trace = record([] { wait_for_both(kSet); });
    const std::vector<Touched> ready = trace.only("epoll_wait").touched();
    ASSERT_EQ(ready.size(), 2u);
    EXPECT_EQ(ready[0].fd, 700);
    ASSERT_NE(ready[0].object, nullptr);
    EXPECT_EQ(ready[0].object->object_type, schema::ObjectType::kPipe);
    EXPECT_EQ(ready[0].object->object_id, trace.nth("write", 0).object_id());
    // the blind spot `epoll`
    EXPECT_EQ(ready[1].fd, -1);
    EXPECT_EQ(ready[1].object, nullptr);
    EXPECT_EQ(ready[1].events, static_cast<std::uint32_t>(EPOLLIN));
}

TEST_F(Attach, a_member_from_before_is_named_once_it_is_changed) {
    before_ = make_set;
    const Trace trace = record([] {
        epoll_event member{};
        member.events = EPOLLIN;
        member.data.u64 = kWord;
        REQUIRE(epoll_ctl(kSet, EPOLL_CTL_MOD, 702, &member) == 0);
        wait_for_both(kSet);
    });
    const std::vector<Touched> ready = trace.only("epoll_wait").touched();
    ASSERT_EQ(ready.size(), 2u);
    EXPECT_EQ(ready[1].fd, 702);
    ASSERT_NE(ready[1].object, nullptr);
    EXPECT_EQ(ready[1].object->object_id, trace.nth("write", 1).object_id());
}

}  // namespace
}  // namespace dyetrace::test
