// TCP sockets whose connection is over, or ends while they are read: they keep their ends, and a FIN is no byte.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "kernel/ends.h"
#include "kernel/recorded.h"

namespace dyetrace::test {
namespace {

class DeadSocket : public KernelTest {
  protected:
    // Makes descriptors 600 and 601 the two ends of a connection.
    static void connect_both() {
        const Ends ends = tcp_ends();
        REQUIRE(dup2(ends.from, 600) == 600 && dup2(ends.to, 601) == 601);
        close(ends.from);
        close(ends.to);
    }
    static void send_to(int end, std::size_t bytes) {
        const std::string some(bytes, 'x');
        REQUIRE(send(end, some.data(), bytes, 0) == static_cast<ssize_t>(bytes));
    }
    static void wait_for(int end, short what) {
        pollfd awaited{end, what, 0};
        REQUIRE(poll(&awaited, 1, -1) == 1);
    }
    static void reset(int end) {
        const linger at_once{1, 0};
        REQUIRE(setsockopt(end, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)) == 0);
        REQUIRE(close(end) == 0);
    }
    // Says of each call of a name what it gave, at which place of the stream, and which ends its socket has.
    static std::string calls(const Trace& trace, const std::string& name) {
        std::string shown;
        std::uint64_t connection = 0;
        for (const Event& event : trace.all(name)) {
            const schema::SocketEnds& ends = event.object()->socket.value();
            connection = connection == 0 ? event.connection_id() : connection;
            shown += event.error().empty() ? std::to_string(event.result()) : event.error();
            if (const auto at = event.stream_offset()) {
                shown += "@" + std::to_string(*at);
            }
            shown += ends.local_port != 0 ? " port" : " -";
            shown += ends.remote_port != 0 ? ">port" : ">-";
            shown += event.connection_id() != 0 && event.connection_id() == connection ? " known\n"
                                                                                       : " -\n";
        }
        return shown;
    }
    static void receive(int end, std::size_t room, ssize_t expected, int flags = 0) {
        std::string bytes(room, 0);
        REQUIRE(recv(end, bytes.data(), room, flags) == expected);
    }
};

TEST_F(DeadSocket, a_reset_leaves_both_ends_and_the_connection) {
    const Trace trace = record([] {
        connect_both();
        send_to(600, 10);
        receive(601, 10, 10);
        reset(600);
        wait_for(601, POLLIN);
        receive(601, 10, -1);
        receive(601, 10, 0);
    });
    EXPECT_EQ(calls(trace, "recvfrom"),
              "10@0 port>port known\nECONNRESET port>port known\n0 port>port known\n");
    EXPECT_EQ(trace.nth("recvfrom", 1).connection_id(), trace.only("sendto").connection_id());
}

TEST_F(DeadSocket, what_is_read_after_both_fins_is_of_the_connection) {
    const Trace trace = record([] {
        connect_both();
        send_to(600, 30'000);
        REQUIRE(shutdown(601, SHUT_WR) == 0);
        wait_for(600, POLLIN);  // its end
        REQUIRE(close(600) == 0);
        wait_for(601, POLLRDHUP);
        receive(601, 10'000, 10'000);
        receive(601, 20'000, 20'000, MSG_WAITALL);
        receive(601, 1, 0);
    });
    EXPECT_EQ(calls(trace, "recvfrom"),
              "10000@0 port>port known\n20000@10000 port>port known\n0 port>port known\n");
    EXPECT_EQ(trace.nth("recvfrom", 0).connection_id(), trace.only("sendto").connection_id());
}

// It is seen first when its connection is over; what came is still there.
TEST_F(DeadSocket, a_reset_before_it_was_accepted_is_of_the_connection) {
    const Trace trace = record([] {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof(address);
        const int listener = socket(AF_INET, SOCK_STREAM, 0);
        REQUIRE(bind(listener, reinterpret_cast<sockaddr*>(&address), length) == 0);
        REQUIRE(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) == 0);
        REQUIRE(listen(listener, 5) == 0);
        const int client = socket(AF_INET, SOCK_STREAM, 0);
        REQUIRE(connect(client, reinterpret_cast<sockaddr*>(&address), length) == 0);
        send_to(client, 30'000);
        wait_for(listener, POLLIN);
        int unacknowledged = 1;
        while (unacknowledged != 0) {
            REQUIRE(ioctl(client, SIOCOUTQ, &unacknowledged) == 0);
        }
        reset(client);
        const int server = accept(listener, nullptr, nullptr);
        receive(server, 10'000, 10'000);
        receive(server, 20'000, 20'000);
        receive(server, 1, -1);
    });
    EXPECT_EQ(calls(trace, "recvfrom"),
              "10000@0 port>port known\n20000@10000 port>port known\nECONNRESET port>port known\n");
    EXPECT_EQ(trace.only("accept").connection_id(), trace.only("sendto").connection_id());
    EXPECT_EQ(trace.nth("recvfrom", 0).connection_id(), trace.only("sendto").connection_id());
}

// Both ends are first seen when one of them has said that it sends no more.
TEST_F(DeadSocket,
       a_half_closed_connection_that_is_older_than_the_recording_is_the_same_at_both_ends) {
    before_ = [] {
        connect_both();
        send_to(601, 7);
        REQUIRE(shutdown(601, SHUT_WR) == 0);
        wait_for(600, POLLRDHUP);
    };
    const Trace trace = record([] {
        send_to(600, 30'000);
        receive(601, 30'000, 30'000, MSG_WAITALL);
        receive(600, 8, 7);
    });
    EXPECT_EQ(calls(trace, "sendto"), "30000@0 port>port known\n");
    EXPECT_EQ(calls(trace, "recvfrom"), "30000@0 port>port known\n7@0 port>port known\n");
    EXPECT_EQ(trace.nth("recvfrom", 0).connection_id(), trace.only("sendto").connection_id());
}

TEST_F(DeadSocket, a_read_that_meets_the_fin_begins_where_its_bytes_do) {
    const Trace trace = record([] {
        connect_both();
        send_to(600, 10);
        receive(601, 4, 4);
        send_to(600, 5);
        REQUIRE(close(600) == 0);
        wait_for(601, POLLRDHUP);
        receive(601, 3, 3, MSG_PEEK);
        receive(601, 100, 11, MSG_WAITALL);
        receive(601, 100, 0);
    });
    EXPECT_EQ(
        calls(trace, "recvfrom"),
        "4@0 port>port known\n3@4 port>port known\n11@4 port>port known\n0 port>port known\n");
}

TEST_F(DeadSocket, a_splice_that_meets_the_fin_begins_where_its_bytes_do) {
    const Trace trace = record([] {
        connect_both();
        int pipe[2];
        REQUIRE(::pipe(pipe) == 0);
        send_to(600, 10);
        receive(601, 4, 4);
        send_to(600, 5);
        REQUIRE(close(600) == 0);
        wait_for(601, POLLRDHUP);
        REQUIRE(splice(601, nullptr, pipe[1], nullptr, 100, 0) == 11);
        REQUIRE(splice(601, nullptr, pipe[1], nullptr, 100, 0) == 0);
    });
    EXPECT_EQ(calls(trace, "splice"), "11@4 port>port known\n0 port>port known\n");
}

}  // namespace
}  // namespace dyetrace::test
