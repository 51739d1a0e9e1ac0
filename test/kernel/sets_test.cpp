// Calls that act on many descriptors: poll, select, epoll, close_range, pipe, socketpair.
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "kernel/old_calls.h"
#include "kernel/recorded.h"

namespace dyetrace::test {
namespace {

class Sets : public KernelTest {};

// The one with this descriptor; a default one fails the test.
Touched with_fd(const std::vector<Touched>& all, int fd) {
    for (const Touched& one : all) {
        if (one.fd == fd) {
            return one;
        }
    }
    ADD_FAILURE() << "no object with fd " << fd;
    return {};
}

TEST_F(Sets, pipe_and_socketpair_make_two_descriptors) {
    NEEDS_OLD_CALLS();
    Shared<int[4]> fds;
    const Trace trace = record([&] {
        REQUIRE(pipe2(&(*fds)[0], O_CLOEXEC) == 0);
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, &(*fds)[2]) == 0);
        REQUIRE(write((*fds)[1], "x", 1) == 1);
        REQUIRE(write((*fds)[3], "x", 1) == 1);
        REQUIRE(pipe2(nullptr, 0) < 0);
        int plain[2];
        REQUIRE(syscall(SYS_pipe, plain) == 0);
    });
    const Event pipe = trace.nth("pipe2", 0), pair = trace.only("socketpair");
    EXPECT_EQ(pipe.fd(), (*fds)[0]);
    EXPECT_EQ(pipe.event_class(), schema::Class::kPipe);
    ASSERT_NE(pipe.object(), nullptr);
    EXPECT_EQ(pipe.object()->object_type, schema::ObjectType::kPipe);
    EXPECT_EQ(pipe.object2_id(), pipe.object_id());
    ASSERT_EQ(pipe.touched().size(), 2u);
    EXPECT_EQ(pipe.touched()[0].role, schema::EventRole::kCreated);
    EXPECT_EQ(pipe.touched()[0].fd, (*fds)[0]);
    EXPECT_EQ(pipe.touched()[1].fd, (*fds)[1]);
    EXPECT_EQ(trace.nth("write", 0).object_id(), pipe.object_id());
    EXPECT_EQ(pair.fd(), (*fds)[2]);
    ASSERT_NE(pair.object(), nullptr);
    ASSERT_NE(pair.object2(), nullptr);
    EXPECT_NE(pair.object_id(), pair.object2_id());
    EXPECT_EQ(trace.nth("write", 1).object_id(), pair.object2_id());
    ASSERT_EQ(pair.touched().size(), 2u);
    EXPECT_EQ(pair.touched()[1].fd, (*fds)[3]);
    EXPECT_EQ(pair.touched()[1].object->object_id, pair.object2_id());
    EXPECT_EQ(trace.only("pipe").object()->object_type, schema::ObjectType::kPipe);
    EXPECT_NE(trace.only("pipe").object_id(), pipe.object_id());
    EXPECT_EQ(trace.only("pipe").touched().size(), 2u);
    EXPECT_EQ(trace.nth("pipe2", 1).error(), "EFAULT");
    EXPECT_TRUE(trace.nth("pipe2", 1).touched().empty());
}

TEST_F(Sets, poll_lists_its_members_and_what_was_ready) {
    Shared<int[2]> fds;
    const Trace trace = record([&] {
        REQUIRE(pipe(&(*fds)[0]) == 0);
        pollfd members[3] = {{(*fds)[0], POLLIN, 0}, {-1, POLLIN, 0}, {(*fds)[1], POLLOUT, 0}};
        REQUIRE(poll(members, 3, 0) == 1);
        const timespec now{};
        REQUIRE(ppoll(members, 1, &now, nullptr) == 0);
    });
    const std::vector<Touched> polled =
        (kHasOldCalls ? trace.only("poll") : trace.nth("ppoll", 0)).touched();
    ASSERT_EQ(polled.size(), 2u);
    EXPECT_EQ(with_fd(polled, (*fds)[0]).role, schema::EventRole::kPoll);
    EXPECT_EQ(with_fd(polled, (*fds)[0]).asked_events, static_cast<std::uint32_t>(POLLIN));
    EXPECT_EQ(with_fd(polled, (*fds)[0]).events, 0u);
    EXPECT_EQ(with_fd(polled, (*fds)[1]).asked_events, static_cast<std::uint32_t>(POLLOUT));
    EXPECT_EQ(with_fd(polled, (*fds)[1]).events, static_cast<std::uint32_t>(POLLOUT));
    ASSERT_NE(polled[0].object, nullptr);
    EXPECT_EQ(polled[0].object->object_id, trace.only("pipe2").object_id());
    ASSERT_EQ(trace.last("ppoll").touched().size(), 1u);
    EXPECT_EQ(trace.last("ppoll").touched()[0].fd, (*fds)[0]);
}

TEST_F(Sets, a_long_poll_set_ends_with_the_range_that_is_not_listed) {
    Shared<int[2]> fds;
    const Trace trace = record([&] {
        REQUIRE(pipe(&(*fds)[0]) == 0);
        std::vector<pollfd> members(200, {(*fds)[0], POLLIN, 0});
        members[150] = {(*fds)[1], POLLOUT, 0};
        REQUIRE(poll(members.data(), members.size(), 0) == 1);
    });
    const std::vector<Touched> polled = trace.only(kHasOldCalls ? "poll" : "ppoll").touched();
    ASSERT_EQ(polled.size(), 64u + 1 + 1);
    EXPECT_EQ(polled[64].fd, (*fds)[1]);
    EXPECT_EQ(polled[65].fd, -1);
    EXPECT_EQ(polled[65].object, nullptr);
    EXPECT_EQ(polled[65].range_begin, 64);
    EXPECT_EQ(polled[65].range_end, 200);
}

TEST_F(Sets, select_lists_what_it_was_asked_for_and_what_was_ready) {
    NEEDS_OLD_CALLS();
    Shared<int[2]> fds;
    const Trace trace = record([&] {
        REQUIRE(pipe(&(*fds)[0]) == 0);
        fd_set in, out;
        FD_ZERO(&in);
        FD_ZERO(&out);
        FD_SET((*fds)[0], &in);
        FD_SET((*fds)[1], &out);
        timeval now{};
        REQUIRE(syscall(SYS_select, (*fds)[1] + 1, &in, &out, nullptr, &now) == 1);
        FD_ZERO(&in);
        FD_SET((*fds)[0], &in);
        timespec soon{0, 1};
        REQUIRE(pselect((*fds)[0] + 1, &in, nullptr, nullptr, &soon, nullptr) == 0);
    });
    const std::vector<Touched> selected = trace.only("select").touched();
    ASSERT_EQ(selected.size(), 2u);
    EXPECT_EQ(with_fd(selected, (*fds)[0]).asked_events, static_cast<std::uint32_t>(POLLIN));
    EXPECT_EQ(with_fd(selected, (*fds)[0]).events, 0u);
    EXPECT_EQ(with_fd(selected, (*fds)[1]).asked_events, static_cast<std::uint32_t>(POLLOUT));
    EXPECT_EQ(with_fd(selected, (*fds)[1]).events, static_cast<std::uint32_t>(POLLOUT));
    const std::vector<Touched> idle = trace.only("pselect6").touched();
    ASSERT_EQ(idle.size(), 1u);
    EXPECT_EQ(idle[0].fd, (*fds)[0]);
    EXPECT_EQ(idle[0].events, 0u);
    EXPECT_EQ(idle[0].role, schema::EventRole::kPoll);
}

TEST_F(Sets, epoll_wait_names_what_became_ready) {
    Shared<int[2]> fds;
    Shared<int> set;
    const Trace trace = record([&] {
        REQUIRE(pipe(&(*fds)[0]) == 0);
        *set = epoll_create1(0);
        epoll_event event{EPOLLOUT, {.u64 = 0x1234567890abcdefull}};
        REQUIRE(epoll_ctl(*set, EPOLL_CTL_ADD, (*fds)[1], &event) == 0);
        event = {EPOLLIN, {.u64 = 7}};
        REQUIRE(epoll_ctl(*set, EPOLL_CTL_ADD, (*fds)[0], &event) == 0);
        epoll_event ready[4];
        REQUIRE(epoll_wait(*set, ready, 4, 0) == 1);
        event.data.u64 = 8;
        REQUIRE(epoll_ctl(*set, EPOLL_CTL_MOD, (*fds)[0], &event) == 0);
        REQUIRE(write((*fds)[1], "x", 1) == 1);
        REQUIRE(epoll_ctl(*set, EPOLL_CTL_DEL, (*fds)[1], nullptr) == 0);
        REQUIRE(epoll_pwait(*set, ready, 4, 0, nullptr) == 1);
        const timespec now{};
        REQUIRE(syscall(SYS_epoll_pwait2, *set, ready, 4, &now, nullptr, 0) == 1 ||
                errno == ENOSYS);  // before 5.11
    });
    const Event added = trace.nth("epoll_ctl", 0);
    EXPECT_EQ(added.fd(), *set);
    ASSERT_NE(added.object(), nullptr);
    EXPECT_EQ(added.object()->object_type, schema::ObjectType::kAnonymous);
    EXPECT_EQ(added.object2_id(), trace.only("pipe2").object_id());
    const std::vector<Touched> first =
        (kHasOldCalls ? trace.only("epoll_wait") : trace.nth("epoll_pwait", 0)).touched();
    ASSERT_EQ(first.size(), 1u);
    EXPECT_EQ(first[0].role, schema::EventRole::kPoll);
    EXPECT_EQ(first[0].fd, (*fds)[1]);
    EXPECT_EQ(first[0].events, static_cast<std::uint32_t>(EPOLLOUT));
    ASSERT_NE(first[0].object, nullptr);
    EXPECT_EQ(first[0].object->object_id, trace.only("pipe2").object_id());
    const std::vector<Touched> second = trace.last("epoll_pwait").touched();
    ASSERT_EQ(second.size(), 1u);
    EXPECT_EQ(second[0].fd, (*fds)[0]);
    EXPECT_EQ(second[0].events, static_cast<std::uint32_t>(EPOLLIN));
    if (trace.only("epoll_pwait2").error() == "ENOSYS") {
        return;
    }
    ASSERT_EQ(trace.only("epoll_pwait2").touched().size(), 1u);
    EXPECT_EQ(trace.only("epoll_pwait2").touched()[0].fd, (*fds)[0]);
}

TEST_F(Sets, a_descriptor_is_found_in_the_64_sets_that_it_was_added_to_last) {
    constexpr int kSets = 65;  // EPOLL_SETS_MAX + 1
    Shared<int> fd;
    const Trace trace = record([&] {
        *fd = eventfd(1, 0);
        std::array<int, kSets> sets{};
        epoll_event event{EPOLLIN, {.fd = *fd}};
        for (int& set : sets) {
            set = epoll_create1(0);
            REQUIRE(epoll_ctl(set, EPOLL_CTL_ADD, *fd, &event) == 0);
        }
        for (const int set : sets) {
            REQUIRE(epoll_wait(set, &event, 1, 0) == 1);
        }
    });
    for (std::size_t i = 0; i < kSets; ++i) {
        const std::vector<Touched> ready =
            trace.nth(kHasOldCalls ? "epoll_wait" : "epoll_pwait", i).touched();
        ASSERT_EQ(ready.size(), 1u);
        // a kernel before 5.11 does not tell which sets a file is in: there all words are remembered
        EXPECT_TRUE(ready[0].fd == *fd || (i == 0 && ready[0].fd == -1)) << i;
    }
}

TEST_F(Sets, close_range_lists_what_it_closed) {
    const std::string file = at("file");
    const Trace trace = record([&] {
        const int fd = open(file.c_str(), O_CREAT | O_RDWR, 0600);
        REQUIRE(dup2(fd, 500) == 500);
        REQUIRE(dup2(fd, 502) == 502);
        REQUIRE(syscall(SYS_close_range, 500, 500, CLOSE_RANGE_CLOEXEC) == 0 ||
                errno == EINVAL);  // before 5.11
        REQUIRE(syscall(SYS_close_range, 500, ~0u, 0) == 0);
        REQUIRE(syscall(SYS_close_range, 9, 8, 0) < 0);
    });
    EXPECT_TRUE(trace.nth("close_range", 0).touched().empty());  // nothing was closed
    const std::vector<Touched> closed = trace.nth("close_range", 1).touched();
    ASSERT_EQ(closed.size(), 2u);
    EXPECT_EQ(closed[0].role, schema::EventRole::kClosed);
    EXPECT_EQ(closed[0].fd, 500);
    EXPECT_EQ(closed[1].fd, 502);
    ASSERT_NE(closed[1].object, nullptr);
    EXPECT_EQ(*closed[1].object->name(), file);
    EXPECT_EQ(trace.nth("close_range", 2).error(), "EINVAL");
    EXPECT_TRUE(trace.nth("close_range", 2).touched().empty());
}

TEST_F(Sets, a_close_range_of_many_ends_with_the_range_that_is_not_listed) {
    const Trace trace = record([&] {
        for (int fd = 300; fd < 400; ++fd) {
            REQUIRE(dup2(STDERR_FILENO, fd) == fd);
        }
        REQUIRE(syscall(SYS_close_range, 300, 450, 0) == 0);
    });
    const std::vector<Touched> closed = trace.only("close_range").touched();
    ASSERT_EQ(closed.size(), 64u + 1);
    EXPECT_EQ(closed[63].fd, 363);
    EXPECT_EQ(closed[64].fd, -1);
    EXPECT_EQ(closed[64].range_begin, 364);
    EXPECT_EQ(closed[64].range_end, 451);
}

}  // namespace
}  // namespace dyetrace::test
