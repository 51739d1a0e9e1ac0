// Where bytes are in a TCP stream: threads on one socket, peeks, urgent bytes, Fast Open, what is dropped before it leaves, copies without a buffer, MPTCP.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include "kernel/recorded.h"

namespace dyetrace::test {
namespace {

constexpr int kMptcp = 262;

class Stream : public KernelTest {};

struct Connection {
    int server = -1, client = -1;
};

int listening(sockaddr_in& address, int protocol, in_addr_t at = INADDR_LOOPBACK) {
    const int listener = socket(AF_INET, SOCK_STREAM, protocol);
    socklen_t length = sizeof(address);
    address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(at);
    REQUIRE(bind(listener, reinterpret_cast<sockaddr*>(&address), length) == 0);
    REQUIRE(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) == 0);
    const int waiting = 5;
    setsockopt(listener, IPPROTO_TCP, TCP_FASTOPEN, &waiting, sizeof(waiting));
    REQUIRE(listen(listener, 5) == 0);
    return listener;
}

Connection connected(int protocol = 0, in_addr_t at = INADDR_LOOPBACK) {
    sockaddr_in address{};
    const int listener = listening(address, protocol, at);
    Connection result;
    result.client = socket(AF_INET, SOCK_STREAM, protocol);
    REQUIRE(connect(result.client, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    result.server = accept(listener, nullptr, nullptr);
    REQUIRE(result.server >= 0);
    return result;
}

// The ranges [offset, offset + bytes) of these calls lie side by side from 0 to `total`.
void expect_no_hole(const std::vector<Event>& calls, std::int64_t total) {
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
    for (const Event& call : calls) {
        ASSERT_TRUE(call.stream_offset().has_value());
        ranges.emplace_back(*call.stream_offset(), *call.stream_offset() + call.result());
    }
    std::sort(ranges.begin(), ranges.end());
    std::int64_t end = 0;
    for (const auto& [begin, range_end] : ranges) {
        EXPECT_EQ(begin, end);
        end = range_end;
    }
    EXPECT_EQ(end, total);
}

TEST_F(Stream, threads_that_share_a_socket_have_ranges_without_overlap) {
    constexpr int kThreads = 4, kCalls = 400, kBytes = 700;
    const Trace trace = record([&] {
        const Connection ends = connected();
        std::vector<std::thread> threads;
        threads.reserve(kThreads);
        for (int i = 0; i < kThreads; ++i) {
            threads.emplace_back([&] {
                const std::array<char, kBytes> bytes{};
                for (int call = 0; call < kCalls; ++call) {
                    REQUIRE(send(ends.client, bytes.data(), bytes.size(), 0) == kBytes);
                }
            });
        }
        std::thread reader([&] {
            std::array<char, 1000> buffer;
            for (long left = long{kThreads} * kCalls * kBytes; left > 0;) {
                const ssize_t got = recv(ends.server, buffer.data(), buffer.size(), 0);
                REQUIRE(got > 0);
                left -= got;
            }
        });
        for (std::thread& thread : threads) {
            thread.join();
        }
        reader.join();
    });
    EXPECT_EQ(trace.count("sendto"), std::size_t{kThreads} * kCalls);
    expect_no_hole(trace.all("sendto"), std::int64_t{kThreads} * kCalls * kBytes);
    expect_no_hole(trace.all("recvfrom"), std::int64_t{kThreads} * kCalls * kBytes);
    EXPECT_NE(trace.first("sendto").connection_id(), 0u);
    EXPECT_EQ(trace.first("sendto").connection_id(), trace.first("recvfrom").connection_id());
}

TEST_F(Stream, threads_that_share_a_socket_read_ranges_without_overlap) {
    constexpr int kThreads = 4, kBytes = 400'000;
    const Trace trace = record([&] {
        const Connection ends = connected();
        std::vector<std::thread> threads;
        threads.reserve(kThreads);
        for (int i = 0; i < kThreads; ++i) {
            threads.emplace_back([&] {
                std::array<char, 777> buffer;
                while (recv(ends.server, buffer.data(), buffer.size(), 0) > 0) {
                }
            });
        }
        const std::vector<char> bytes(1000);
        for (int sent = 0; sent < kBytes; sent += 1000) {
            REQUIRE(write(ends.client, bytes.data(), bytes.size()) == 1000);
        }
        REQUIRE(shutdown(ends.client, SHUT_WR) == 0);
        for (std::thread& thread : threads) {
            thread.join();
        }
    });
    std::vector<Event> reads = trace.all("recvfrom");
    std::erase_if(reads, [](const Event& read) { return read.result() == 0; });
    expect_no_hole(reads, kBytes);
}

TEST_F(Stream, a_peek_takes_nothing_and_a_cut_takes_all) {
    const Trace trace = record([&] {
        const Connection ends = connected();
        REQUIRE(send(ends.client, "0123456789", 10, 0) == 10);
        char buffer[10];
        REQUIRE(recv(ends.server, buffer, 3, 0) == 3);
        REQUIRE(recv(ends.server, buffer, 4, MSG_PEEK) == 4);
        REQUIRE(recv(ends.server, buffer, 2, MSG_TRUNC) == 2);
        REQUIRE(recv(ends.server, buffer, 5, 0) == 5);
    });
    EXPECT_EQ(trace.nth("recvfrom", 0).stream_offset(), 0);
    EXPECT_EQ(trace.nth("recvfrom", 1).stream_offset(), 3);
    EXPECT_EQ(trace.nth("recvfrom", 2).stream_offset(), 3);
    EXPECT_EQ(trace.nth("recvfrom", 3).stream_offset(), 5);
}

TEST_F(Stream, an_urgent_byte_has_its_place_but_is_read_outside_of_the_stream) {
    const Trace trace = record([&] {
        const Connection ends = connected();
        REQUIRE(send(ends.client, "abc", 3, 0) == 3);
        REQUIRE(send(ends.client, "!", 1, MSG_OOB) == 1);
        REQUIRE(send(ends.client, "def", 3, 0) == 3);
        char buffer[10];
        REQUIRE(recv(ends.server, buffer, 10, 0) == 3);
        REQUIRE(recv(ends.server, buffer, 1, MSG_OOB) == 1);
        REQUIRE(recv(ends.server, buffer, 10, 0) == 3);
    });
    EXPECT_EQ(trace.nth("sendto", 0).stream_offset(), 0);
    EXPECT_EQ(trace.nth("sendto", 1).stream_offset(), 3);
    EXPECT_EQ(trace.nth("sendto", 2).stream_offset(), 4);
    EXPECT_EQ(trace.nth("recvfrom", 0).stream_offset(), 0);
    EXPECT_EQ(trace.nth("recvfrom", 1).stream_offset(), std::nullopt);
    EXPECT_EQ(trace.nth("recvfrom", 2).stream_offset(), 4);
}

TEST_F(Stream, fast_open_begins_at_0_with_and_without_a_cookie) {
    const Trace trace = record([&] {
        sockaddr_in address{};
        const int listener = listening(address, 0);
        for (int i = 0; i < 2;
             ++i) {  // the first asks for a cookie, the second has data in its SYN
            const int client = socket(AF_INET, SOCK_STREAM, 0);
            REQUIRE(sendto(client,
                           "hello",
                           5,
                           MSG_FASTOPEN,
                           reinterpret_cast<sockaddr*>(&address),
                           sizeof(address)) == 5);
            const int server = accept(listener, nullptr, nullptr);
            char buffer[10];
            REQUIRE(recv(server, buffer, 5, MSG_WAITALL) == 5);
            REQUIRE(send(client, "more", 4, 0) == 4);
            REQUIRE(recv(server, buffer, 4, MSG_WAITALL) == 4);
        }
    });
    for (std::size_t i = 0; i < 4; i += 2) {
        EXPECT_EQ(trace.nth("sendto", i).stream_offset(), 0) << i;
        EXPECT_EQ(trace.nth("sendto", i + 1).stream_offset(), 5) << i;
        EXPECT_EQ(trace.nth("recvfrom", i).stream_offset(), 0) << i;
        EXPECT_EQ(trace.nth("recvfrom", i + 1).stream_offset(), 5) << i;
    }
}

// Its bytes and its end are there before anybody takes them.
TEST_F(Stream, a_connection_that_ended_before_it_was_accepted_is_the_same_at_both_ends) {
    const Trace trace = record([] {
        sockaddr_in address{};
        const int listener = listening(address, 0), client = socket(AF_INET, SOCK_STREAM, 0);
        REQUIRE(connect(client, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
        REQUIRE(send(client, "hello", 5, 0) == 5);
        REQUIRE(close(client) == 0);
        pollfd ended{listener, POLLIN, 0};
        REQUIRE(poll(&ended, 1, -1) == 1);
        const int server = accept(listener, nullptr, nullptr);
        char bytes[100];
        REQUIRE(recv(server, bytes, sizeof(bytes), 0) == 5);
        REQUIRE(recv(server, bytes, sizeof(bytes), 0) == 0);
    });
    EXPECT_NE(trace.only("sendto").connection_id(), 0u);
    EXPECT_EQ(trace.nth("recvfrom", 0).connection_id(), trace.only("sendto").connection_id());
    EXPECT_EQ(trace.nth("recvfrom", 0).stream_offset(), 0);
}

constexpr in_addr_t kHere = 0x0a010101, kElsewhere = 0xc0000201;

void give_loopback(in_addr_t address) {
    const int any = socket(AF_INET, SOCK_DGRAM, 0);
    ifreq loopback{};
    std::strcpy(loopback.ifr_name, "lo");
    loopback.ifr_flags = IFF_UP;
    REQUIRE(ioctl(any, SIOCSIFFLAGS, &loopback) == 0);
    sockaddr_in of{};
    of.sin_family = AF_INET;
    of.sin_addr.s_addr = htonl(address);
    std::memcpy(&loopback.ifr_addr, &of, sizeof(of));
    REQUIRE(ioctl(any, SIOCSIFADDR, &loopback) == 0);
    close(any);
}

Connection connected_in_a_network_of_its_own() {
    REQUIRE(unshare(CLONE_NEWNET) == 0);
    give_loopback(kHere);
    return connected(0, kHere);
}

// While there is no way to the other end nothing leaves; the kernel tries again later, and counts it each time.
void send_without_a_way(int from, std::size_t bytes) {
    give_loopback(kElsewhere);
    const std::string some(bytes, 'x');
    REQUIRE(send(from, some.data(), bytes, 0) == static_cast<ssize_t>(bytes));
    give_loopback(kHere);
}

void receive_all(int to, std::size_t bytes) {
    std::string some(bytes, 0);
    REQUIRE(recv(to, some.data(), bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes));
}

std::uint64_t counted_as_sent(int from) {
    tcp_info info{};
    socklen_t length = sizeof(info);
    REQUIRE(getsockopt(from, IPPROTO_TCP, TCP_INFO, &info, &length) == 0);
    return info.tcpi_bytes_sent - info.tcpi_bytes_retrans;
}

TEST_F(Stream, what_is_dropped_before_it_leaves_moves_no_byte_after_it) {
    const Trace trace = record([] {
        const Connection both = connected_in_a_network_of_its_own();
        for (const int from : {both.client, both.server}) {
            const int to = from == both.client ? both.server : both.client;
            for (int i = 0; i < 2; ++i) {
                send_without_a_way(from, 3000);
                receive_all(to, 3000);
            }
            REQUIRE(counted_as_sent(from) > 6000);
            REQUIRE(send(from, "after", 5, 0) == 5);
            receive_all(to, 5);
        }
    });
    for (const std::size_t first : {0, 3}) {
        for (const std::size_t i : {0, 1, 2}) {
            EXPECT_EQ(trace.nth("sendto", first + i).stream_offset(), 3000 * i) << first;
            EXPECT_EQ(trace.nth("recvfrom", first + i).stream_offset(), 3000 * i) << first;
        }
    }
}

// As of a daemon on a machine whose queue was full once.
TEST_F(Stream, a_connection_that_lost_bytes_at_home_before_the_recording_is_the_same_at_both_ends) {
    before_ = [] {
        const Connection both = connected_in_a_network_of_its_own();
        REQUIRE(dup2(both.client, 600) == 600 && dup2(both.server, 601) == 601);
        send_without_a_way(600, 3000);
        receive_all(601, 3000);
        send_without_a_way(601, 3000);
        receive_all(600, 3000);
    };
    const Trace trace = record([] {
        REQUIRE(send(600, "hello", 5, 0) == 5);
        receive_all(601, 5);
        REQUIRE(send(601, "hello", 5, 0) == 5);
        receive_all(600, 5);
    });
    const std::uint64_t connection = trace.nth("sendto", 0).connection_id();
    EXPECT_NE(connection, 0u);
    for (const char* name : {"sendto", "recvfrom"}) {
        for (const std::size_t i : {0, 1}) {
            EXPECT_EQ(trace.nth(name, i).connection_id(), connection) << name << i;
            EXPECT_EQ(trace.nth(name, i).stream_offset(), 3000) << name << i;
        }
    }
}

TEST_F(Stream, copies_without_a_buffer_have_both_ranges) {
    const std::string file = at("file"), copy = at("copy");
    const Trace trace = record([&] {
        const Connection ends = connected();
        const int from = open(file.c_str(), O_CREAT | O_RDWR, 0600);
        const int to = open(copy.c_str(), O_CREAT | O_RDWR, 0600);
        REQUIRE(ftruncate(from, 100'000) == 0);
        REQUIRE(send(ends.client, "xyz", 3, 0) == 3);
        off_t position = 1000;
        REQUIRE(sendfile(ends.client, from, &position, 20'000) == 20'000);
        int pipe[2];
        REQUIRE(::pipe(pipe) == 0);
        loff_t at = 500;
        REQUIRE(splice(from, &at, pipe[1], nullptr, 100, 0) == 100);
        REQUIRE(splice(pipe[0], nullptr, ends.client, nullptr, 100, 0) == 100);
        char buffer[3];
        REQUIRE(recv(ends.server, buffer, 3, MSG_WAITALL) == 3);
        REQUIRE(splice(ends.server, nullptr, pipe[1], nullptr, 50, 0) == 50);
        loff_t put = 7;
        REQUIRE(splice(pipe[0], nullptr, to, &put, 50, 0) == 50);
    });
    const Event sent = trace.only("sendfile");
    EXPECT_EQ(sent.stream_offset(), 3);
    EXPECT_EQ(sent.path2(), file);
    EXPECT_EQ(sent.file_offset2(), 1000);
    EXPECT_EQ(sent.bytes(), 20'000);
    EXPECT_EQ(trace.nth("splice", 0).path(), file);
    EXPECT_EQ(trace.nth("splice", 0).file_offset(), 500);
    EXPECT_EQ(trace.nth("splice", 0).stream_offset(), std::nullopt);
    EXPECT_EQ(trace.nth("splice", 1).stream_offset(), 20'003);
    EXPECT_EQ(trace.nth("splice", 2).stream_offset(), 3);
    EXPECT_EQ(trace.nth("splice", 3).path2(), copy);
    EXPECT_EQ(trace.nth("splice", 3).file_offset2(), 7);
}

TEST_F(Stream, messages_of_one_call_follow_each_other) {
    const Trace trace = record([&] {
        const Connection ends = connected();
        REQUIRE(send(ends.client, "x", 1, 0) == 1);
        char out[3][20] = {}, in[40];
        std::array<iovec, 3> vectors{};
        std::array<mmsghdr, 3> messages{};
        for (std::size_t i = 0; i < 3; ++i) {
            vectors[i] = {out[i], 10 + i};
            messages[i].msg_hdr.msg_iov = &vectors[i];
            messages[i].msg_hdr.msg_iovlen = 1;
        }
        REQUIRE(sendmmsg(ends.client, messages.data(), 3, 0) == 3);
        REQUIRE(recv(ends.server, in, 34, MSG_WAITALL) == 34);
    });
    const std::vector<Part> parts = trace.only("sendmmsg").parts();
    ASSERT_EQ(parts.size(), 3u);
    EXPECT_EQ(parts[0].stream_offset(), 1);
    EXPECT_EQ(parts[1].stream_offset(), 11);
    EXPECT_EQ(parts[2].stream_offset(), 22);
}

TEST_F(Stream, mptcp_is_no_tcp_socket) {
    const int probe = socket(AF_INET, SOCK_STREAM, kMptcp);
    if (probe < 0) {
        GTEST_SKIP() << "this kernel has no MPTCP";
    }
    close(probe);
    const Trace trace = record([&] {
        const Connection ends = connected(kMptcp);
        REQUIRE(send(ends.client, "abc", 3, 0) == 3);
        char buffer[3];
        REQUIRE(recv(ends.server, buffer, 3, MSG_WAITALL) == 3);
    });
    EXPECT_EQ(trace.only("sendto").bytes(), 3);
    EXPECT_EQ(trace.only("sendto").stream_offset(), std::nullopt);
    EXPECT_EQ(trace.only("recvfrom").stream_offset(), std::nullopt);
    EXPECT_EQ(trace.only("sendto").connection_id(), 0u);
}

TEST_F(Stream, two_writers_that_append_have_certain_ranges_without_overlap) {
    const std::string file = at("log");
    constexpr int kCalls = 300;
    const Trace trace = record([&] {
        const auto append = [&] {
            const int fd = open(file.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
            for (int i = 0; i < kCalls; ++i) {
                REQUIRE(write(fd, "0123456", static_cast<std::size_t>(1 + i % 7)) == 1 + i % 7);
            }
        };
        const pid_t child = fork();
        append();
        if (child == 0) {
            _exit(0);
        }
        REQUIRE(waitpid(child, nullptr, 0) == child);
    });
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
    for (const Event& write : trace.all("write")) {
        EXPECT_TRUE(write.offset_certain());
        ranges.emplace_back(*write.file_offset(), *write.file_offset() + write.result());
    }
    std::sort(ranges.begin(), ranges.end());
    std::int64_t end = 0;
    for (const auto& [begin, range_end] : ranges) {
        EXPECT_EQ(begin, end);
        end = range_end;
    }
}

}  // namespace
}  // namespace dyetrace::test
