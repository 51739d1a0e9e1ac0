// What TCP sends again, on loopback: a receiver that drops what comes for a while, a listener that is full. The truth is TCP_INFO.
#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>

#include "kernel/recorded.h"

namespace dyetrace::test {
namespace {

constexpr int kSentBefore = 3000, kSentAgain = 5000;  // bytes

class Retransmit : public KernelTest {
  protected:
    Retransmit() {
        options_.watch_retransmissions = true;
        alone_ = true;
    }

    bool hides_process() const {
        return std::ranges::any_of(sources(), [](const capture::Source& source) {
            return source.name == "retransmissions" &&
                   source.reason.find("process 1") != std::string::npos;
        });
    }
};

struct Sent {
    std::uint64_t segments = 0, bytes = 0;
};

Sent counted(int connection) {
    tcp_info info{};
    socklen_t length = sizeof(info);
    REQUIRE(getsockopt(connection, IPPROTO_TCP, TCP_INFO, &info, &length) == 0);
    return {info.tcpi_total_retrans, info.tcpi_bytes_retrans};
}

// Some virtual machines run no program while process 1 has the CPU. What was sent again then is counted by the next row; the
// last one is not.
void expect_all(const std::vector<const schema::Retransmission*>& rows,
                const Sent& truth,
                bool hides_process) {
    Sent told;
    std::uint64_t missed = 0;
    for (const auto* row : rows) {
        told.segments += row->segments;
        told.bytes += row->bytes;
        missed += row->missed_segments;
    }
    if (hides_process && told.segments + missed + 1 == truth.segments) {
        GTEST_SKIP() << "the last was sent while process 1 had the CPU, which this kernel hides";
    }
    EXPECT_EQ(told.segments + missed, truth.segments);
    if (!hides_process || missed == 0) {
        EXPECT_EQ(missed, 0u);
        EXPECT_EQ(told.bytes, truth.bytes);
    }
}

template <typename Condition>
void wait_until(Condition&& condition) {
    constexpr timespec kPause{0, 5'000'000};
    while (!condition()) {
        nanosleep(&kPause, nullptr);
    }
}

// All that comes in is dropped, acknowledgements too.
void drop_all(int connection, bool drop) {
    sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
    const sock_fprog filter{1, &nothing};
    REQUIRE(setsockopt(connection,
                       SOL_SOCKET,
                       drop ? SO_ATTACH_FILTER : SO_DETACH_FILTER,
                       &filter,
                       sizeof(filter)) == 0);
}

int listening(sockaddr_in& address, int backlog) {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t length = sizeof(address);
    address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(bind(listener, reinterpret_cast<sockaddr*>(&address), length) == 0);
    REQUIRE(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) == 0);
    REQUIRE(listen(listener, backlog) == 0);
    return listener;
}

int connected(const sockaddr_in& address, int flags = 0) {
    const int client = socket(AF_INET, SOCK_STREAM | flags, 0);
    const int done = connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    REQUIRE(done == 0 || errno == EINPROGRESS);
    return client;
}

void read_all(int connection, int bytes) {
    std::array<char, kSentBefore + kSentAgain> buffer{};
    while (bytes > 0) {
        const ssize_t got = read(connection, buffer.data(), buffer.size());
        REQUIRE(got > 0);
        bytes -= static_cast<int>(got);
    }
}

unsigned own_port(int connection) {
    sockaddr_in address;
    socklen_t length = sizeof(address);
    REQUIRE(getsockname(connection, reinterpret_cast<sockaddr*>(&address), &length) == 0);
    return ntohs(address.sin_port);
}

// How often the socket of this port, which may be closed, has sent again without an answer; see Linux's
// Documentation/networking/proc_net_tcp.rst, "number of unrecovered RTO timeouts".
unsigned timers_run_out(unsigned port) {
    std::ifstream sockets("/proc/net/tcp");
    for (std::string line; std::getline(sockets, line);) {
        unsigned local = 0, timeouts = 0;
        if (sscanf(line.c_str(), "%*u: %*x:%x %*x:%*x %*x %*x:%*x %*x:%*x %x", &local, &timeouts) ==
                2 &&
            local == port) {
            return timeouts;
        }
    }
    return 0;
}

// Sends, and again while the other end takes no notice; what is sent again is in `truth` when all has come.
void send_in_vain(bool close_at_once, Sent& truth) {
    sockaddr_in address;
    const int listener = listening(address, 1), client = connected(address);
    const int server = accept(listener, nullptr, nullptr);
    const std::array<char, kSentAgain> bytes{};
    REQUIRE(write(client, bytes.data(), kSentBefore) == kSentBefore);
    read_all(server, kSentBefore);
    drop_all(server, true);
    REQUIRE(write(client, bytes.data(), kSentAgain) == kSentAgain);
    if (close_at_once) {
        const unsigned port = own_port(client);
        close(client);
        wait_until([&] { return timers_run_out(port) >= 2; });
    } else {
        wait_until([&] { return counted(client).segments >= 3; });
    }
    drop_all(server, false);
    read_all(server, kSentAgain);
    if (!close_at_once) {
        int unsent = 1;
        wait_until([&] { return ioctl(client, SIOCOUTQ, &unsent) == 0 && unsent == 0; });
        truth = counted(client);
    }
}

TEST_F(Retransmit, what_is_sent_again_is_what_the_kernel_counts_of_the_socket) {
    Shared<Sent> truth;
    const Trace trace = record([&] { send_in_vain(false, *truth); });
    const auto rows = trace.facts<schema::Retransmission>();
    ASSERT_GE(rows.size(), 3u);
    expect_all(rows, *truth, hides_process());
    const Event sent = trace.nth("write", 1);
    for (const auto* row : rows) {
        EXPECT_EQ(row->handle_id, sent.raw().handle_id);
        EXPECT_GE(row->time_ns, sent.raw().start_ns);
        EXPECT_TRUE(row->present & schema::Retransmission::kHasOffset);
        EXPECT_GE(row->stream_offset, static_cast<std::uint64_t>(*sent.stream_offset()));
        EXPECT_LE(row->stream_offset + row->bytes, std::uint64_t{kSentBefore + kSentAgain});
        EXPECT_EQ(row->tcp_flags & 2, 0);
    }
    const auto state = static_cast<schema::CongestionState>(rows.back()->congestion_state);
    EXPECT_EQ(state, schema::CongestionState::kLoss) << "only a timer can have told";
    EXPECT_EQ(trace.accounting().retransmissions, rows.size());
}

TEST_F(Retransmit, a_socket_that_was_closed_is_still_known) {
    Shared<Sent> truth;
    const Trace trace = record([&] { send_in_vain(true, *truth); });
    const auto rows = trace.facts<schema::Retransmission>();
    ASSERT_GE(rows.size(), 1u);
    const Event closed = trace.first("close");
    EXPECT_TRUE(std::ranges::any_of(rows, [&](const auto* row) {
        return row->time_ns > closed.raw().start_ns + closed.raw().duration_ns;
    }));
    for (const auto* row : rows) {
        EXPECT_EQ(row->handle_id, closed.raw().handle_id);
        EXPECT_GE(row->stream_offset, std::uint64_t{kSentBefore});
        EXPECT_LE(row->stream_offset + row->bytes, std::uint64_t{kSentBefore + kSentAgain});
    }
}

TEST_F(Retransmit, a_handshake_without_an_answer_sends_its_first_packet_again) {
    const Trace trace = record([] {
        sockaddr_in address;
        const int listener = listening(address, 0);  // has room for one
        connected(address);
        const int client = connected(address, SOCK_NONBLOCK);
        wait_until([&] { return counted(client).segments == 1; });
        REQUIRE(accept(listener, nullptr, nullptr) >= 0);
    });
    const auto rows = trace.facts<schema::Retransmission>();
    if (rows.empty() && hides_process()) {
        GTEST_SKIP() << "process 1 had the CPU, and this kernel keeps it from BPF programs";
    }
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0]->tcp_flags, 2);
    EXPECT_EQ(rows[0]->bytes, 0u);
    EXPECT_EQ(rows[0]->segments, 1);
    EXPECT_EQ(rows[0]->present, 0u);
    EXPECT_EQ(rows[0]->handle_id, trace.nth("connect", 1).raw().handle_id);
}

TEST_F(Retransmit, of_sockets_of_others_there_is_nothing) {
    Shared<Sent> truth, of_others;
    before_ = [&] {
        if (fork() == 0) {  // nobody watches it
            send_in_vain(false, *of_others);
            _exit(0);
        }
    };
    const Trace trace = record([&] {
        send_in_vain(false, *truth);
        wait_until([&] { return of_others->segments > 0; });
    });
    expect_all(trace.facts<schema::Retransmission>(), *truth, hides_process());
}

}  // namespace
}  // namespace dyetrace::test
