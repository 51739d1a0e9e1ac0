// What began before the recording did: calls under way, members of epoll sets, processes that are left out.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "capture/capture.h"
#include "kernel/recorded.h"
#include "schema/record.h"

namespace dyetrace::test {
namespace {

class Attach : public KernelTest {
  protected:
    Attach() { alone_ = true; }
};

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

TEST_F(Attach, members_of_an_epoll_set_from_before_are_named_whatever_their_word_is) {
    before_ = make_set;
    const Trace trace = record([] { wait_for_both(kSet); });
    const std::vector<Touched> ready = trace.only("epoll_wait").touched();
    ASSERT_EQ(ready.size(), 2u);
    for (const std::size_t member : {0u, 1u}) {
        EXPECT_EQ(ready[member].fd, member == 0 ? 700 : 702);
        ASSERT_NE(ready[member].object, nullptr);
        EXPECT_EQ(ready[member].object->object_type, schema::ObjectType::kPipe);
        EXPECT_EQ(ready[member].object->object_id, trace.nth("write", member).object_id());
        EXPECT_EQ(ready[member].events, static_cast<std::uint32_t>(EPOLLIN));
    }
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

void add(int set, int fd, std::uint64_t word) {
    epoll_event member{};
    member.events = EPOLLIN;
    member.data.u64 = word;
    REQUIRE(epoll_ctl(set, EPOLL_CTL_ADD, fd, &member) == 0);
}

void wait_for_one(int set) {
    epoll_event ready{};
    REQUIRE(epoll_wait(set, &ready, 1, -1) == 1);
}

constexpr int kOtherSet = 711;

TEST_F(Attach, a_file_in_two_sets_is_named_in_both) {
    before_ = [] {
        make_set();
        REQUIRE(dup2(epoll_create1(0), kOtherSet) == kOtherSet);
        add(kOtherSet, 700, kWord);  // there the word is 702's
        add(kOtherSet, 702, kWord + 1);
    };
    const Trace trace = record([] {
        wait_for_both(kSet);
        wait_for_both(kOtherSet);
    });
    for (const std::size_t wait : {0u, 1u}) {
        const std::vector<Touched> ready = trace.nth("epoll_wait", wait).touched();
        ASSERT_EQ(ready.size(), 2u);
        EXPECT_EQ(ready[0].fd, 700);
        EXPECT_EQ(ready[1].fd, 702);
    }
}

TEST_F(Attach, a_member_whose_descriptor_is_closed_is_named_by_its_file) {
    before_ = [] {
        make_set();
        REQUIRE(dup2(702, 704) == 704 && close(702) == 0);
    };
    const Trace trace = record([] { wait_for_both(kSet); });
    const std::vector<Touched> ready = trace.only("epoll_wait").touched();
    ASSERT_EQ(ready.size(), 2u);
    EXPECT_EQ(ready[1].fd, -1);
    ASSERT_NE(ready[1].object, nullptr);
    EXPECT_EQ(ready[1].object->object_id, trace.nth("write", 1).object_id());
}

TEST_F(Attach, a_descriptor_that_is_another_file_by_now_is_not_taken_for_the_member) {
    before_ = [] {
        make_set();
        REQUIRE(dup2(702, 704) == 704 && dup2(STDERR_FILENO, 702) == 702);
    };
    const Trace trace = record([] { wait_for_both(kSet); });
    const std::vector<Touched> ready = trace.only("epoll_wait").touched();
    ASSERT_EQ(ready.size(), 2u);
    EXPECT_EQ(ready[1].fd, -1);
    ASSERT_NE(ready[1].object, nullptr);
    EXPECT_EQ(ready[1].object->object_id, trace.nth("write", 1).object_id());
}

TEST_F(Attach, two_descriptors_of_one_file_are_two_members) {
    before_ = [] {
        make_set();
        REQUIRE(dup2(702, 704) == 704);
        add(kSet, 704, kWord + 1);
        REQUIRE(epoll_ctl(kSet, EPOLL_CTL_DEL, 700, nullptr) == 0);
    };
    const Trace trace = record([] { wait_for_both(kSet); });
    const std::vector<Touched> ready = trace.only("epoll_wait").touched();
    ASSERT_EQ(ready.size(), 2u);
    EXPECT_EQ(std::min(ready[0].fd, ready[1].fd), 702);
    EXPECT_EQ(std::max(ready[0].fd, ready[1].fd), 704);
    EXPECT_EQ(ready[0].object, ready[1].object);
}

TEST_F(Attach, a_set_in_a_set_is_a_member) {
    before_ = [] {
        make_set();
        REQUIRE(dup2(epoll_create1(0), kOtherSet) == kOtherSet);
        add(kOtherSet, kSet, kWord);
    };
    const Trace trace = record([] {
        REQUIRE(write(703, "x", 1) == 1);
        wait_for_one(kOtherSet);
        wait_for_one(kSet);
    });
    const std::vector<Touched> outer = trace.nth("epoll_wait", 0).touched();
    ASSERT_EQ(outer.size(), 1u);
    EXPECT_EQ(outer[0].fd, kSet);
    ASSERT_NE(outer[0].object, nullptr);
    EXPECT_EQ(outer[0].object->object_id, trace.nth("epoll_wait", 1).object_id());
    const std::vector<Touched> inner = trace.nth("epoll_wait", 1).touched();
    ASSERT_EQ(inner.size(), 1u);
    EXPECT_EQ(inner[0].fd, 702);
}

TEST_F(Attach, a_member_that_left_before_is_not_named_for_the_one_that_took_its_word) {
    before_ = [] {
        make_set();
        REQUIRE(epoll_ctl(kSet, EPOLL_CTL_DEL, 702, nullptr) == 0);
        REQUIRE(epoll_ctl(kSet, EPOLL_CTL_DEL, 700, nullptr) == 0);
        add(kSet, 700, kWord);
    };
    const Trace trace = record([] {
        REQUIRE(write(701, "x", 1) == 1);
        wait_for_one(kSet);
    });
    const std::vector<Touched> ready = trace.only("epoll_wait").touched();
    ASSERT_EQ(ready.size(), 1u);
    EXPECT_EQ(ready[0].fd, 700);
}

TEST_F(Attach, a_descriptor_in_more_sets_than_are_looked_at_is_named_in_each) {
    constexpr int kSets = 70;  // > EPOLL_SETS_MAX, as the socket that a server's workers listen on
    static std::array<int, kSets> sets;
    before_ = [] {
        const int fd = eventfd(1, 0);
        for (int& set : sets) {
            set = epoll_create1(0);
            add(set, fd, static_cast<std::uint64_t>(fd));
        }
    };
    const Trace trace = record([] {
        for (const int set : sets) {
            wait_for_one(set);
        }
    });
    ASSERT_EQ(trace.count("epoll_wait"), sets.size());
    for (const Event& wait : trace.all("epoll_wait")) {
        ASSERT_EQ(wait.touched().size(), 1u);
        EXPECT_NE(wait.touched()[0].object, nullptr);
    }
}

// Its reason, or empty.
std::string coverage_of_epoll(const std::vector<capture::Source>& sources) {
    for (const capture::Source& source : sources) {
        if (source.name == "epoll") {
            return source.reason;
        }
    }
    return "";
}

// So many sets of so many members. The members are of one file, or each is an own one.
void make_sets(int sets, int members, bool one_file) {
    const int first = eventfd(1, 0);
    std::vector<int> fds;
    for (int i = 0; i < members; ++i) {
        fds.push_back(one_file ? dup(first) : eventfd(1, 0));
        REQUIRE(fds.back() >= 0);
    }
    for (int i = 0; i < sets; ++i) {
        const int set = epoll_create1(0);
        REQUIRE(set >= 0);
        for (const int fd : fds) {
            add(set, fd, kWord + static_cast<std::uint64_t>(fd));
        }
    }
}

TEST_F(Attach, nothing_is_said_of_sets_where_all_members_are_remembered) {
    before_ = [] { make_sets(40, 100, true); };
    (void)record([] {});
    EXPECT_EQ(coverage_of_epoll(sources()), "");
}

TEST_F(Attach, that_a_file_is_a_member_more_often_than_is_looked_at_is_said) {
    before_ = [] { make_sets(41, 100, true); };  // 4,100 > MEMBERSHIPS_MAX
    (void)record([] {});
    const std::string said = coverage_of_epoll(sources());
    std::size_t remembered = 0;  // 4,096, and what files of other programs are members of just now
    const std::size_t at = said.rfind(": only ");
    ASSERT_NE(at, std::string::npos) << said;
    ASSERT_EQ(std::sscanf(said.c_str() + at, ": only %zu are remembered", &remembered), 1) << said;
    EXPECT_GE(remembered, 4096u) << said;
    EXPECT_LT(remembered, 32768u) << said;
}

TEST_F(Attach, that_there_are_more_members_than_are_remembered_is_said) {
    before_ = [] { make_sets(110, 300, false); };  // 33,000 > MEMBERS_MAX
    (void)record([] {});
    EXPECT_TRUE(coverage_of_epoll(sources()).ends_with(": only 32768 are remembered"))
        << coverage_of_epoll(sources());
}

constexpr const char* kRestless = "restless";  // what its threads are called

// Each thread makes the next one and ends; `made` counts them.
void* make_next_thread(void* made) {
    ++*static_cast<std::atomic<int>*>(made);
    syscall(SYS_getppid);
    pthread_t next;
    REQUIRE(pthread_create(&next, nullptr, make_next_thread, made) == 0);
    pthread_detach(next);
    return nullptr;
}

pid_t start_restless_process(std::atomic<int>& made) {
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_NAME, kRestless);
        make_next_thread(&made);
        for (;;) {
            pause();
        }
    }
    while (made == 0) {
        std::this_thread::yield();
    }
    return child;
}

// An agent makes threads when it likes, and what it ships is nothing that it should record.
TEST_F(Attach, of_a_process_that_is_excluded_not_a_call_is_recorded_whatever_threads_it_makes) {
    Shared<std::atomic<int>> made;
    const pid_t restless = start_restless_process(*made);
    capture::CaptureOptions options;
    options.watch_all = true;
    auto capture = capture::Capture::load(options);
    ASSERT_TRUE(capture.ok()) << capture.error().text();
    ASSERT_TRUE(capture.value().exclude(restless).ok());
    for (const int enough = *made + 100; *made < enough;) {
        std::this_thread::yield();
    }
    ASSERT_TRUE(capture.value().attach().ok());
    std::size_t others = 0, its_own = 0;
    const auto look = [&](std::uint32_t, schema::Stream stream, schema::RecordBytes bytes) {
        while (stream == schema::Stream::kFacts && !bytes.empty()) {
            const schema::RecordBytes record = schema::first_record(bytes);
            ASSERT_FALSE(record.empty());
            if (const auto* task = schema::as<schema::TaskContext>(record); task != nullptr) {
                const std::string_view comm(reinterpret_cast<const char*>(task->comm));
                (comm == kRestless ? its_own : others) += 1;
            }
            bytes = bytes.subspan(record.size());
        }
    };
    for (const int enough = *made + 500; *made < enough;) {
        syscall(SYS_getppid);
        capture.value().drain(look);
    }
    EXPECT_TRUE(capture.value().stop().ok());
    while (capture.value().drain(look) > 0) {
    }
    kill(restless, SIGKILL);
    waitpid(restless, nullptr, 0);
    EXPECT_GT(others, 0u);
    EXPECT_EQ(its_own, 0u);
}

pid_t start_sleepers(int threads) {
    const Shared<std::atomic<int>> asleep;
    const pid_t child = fork();
    if (child == 0) {
        for (int thread = 1; thread < threads; ++thread) {
            std::thread([&] {
                ++*asleep;
                pause();
            }).detach();
        }
        ++*asleep;
        pause();
    }
    while (*asleep < threads) {
        std::this_thread::yield();
    }
    return child;
}

// Two that are the first to keep something of a thread: the kernel refuses one of them, and wants to be asked again.
TEST_F(Attach, recordings_that_begin_together_watch_all_threads) {
    constexpr int kThreads = 400, kTimes = 20;
    std::vector<capture::Capture> captures;
    for (int i = 0; i < 2; ++i) {
        auto loaded = capture::Capture::load({});
        ASSERT_TRUE(loaded.ok()) << loaded.error().text();
        captures.push_back(std::move(loaded).value());
    }
    for (int i = 0; i < kTimes; ++i) {
        const pid_t child = start_sleepers(kThreads);
        std::atomic<int> ready = 0;
        const auto watch = [&](capture::Capture& capture) {
            ++ready;
            while (ready < 2) {
            }
            const auto watched = capture.watch(child);
            EXPECT_TRUE(watched.ok()) << watched.error().text();
        };
        std::thread other([&] { watch(captures[1]); });
        watch(captures[0]);
        other.join();
        for (const capture::Capture& capture : captures) {
            EXPECT_EQ(capture.watched().value(), static_cast<std::uint32_t>(kThreads));
        }
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }
}

}  // namespace
}  // namespace dyetrace::test
