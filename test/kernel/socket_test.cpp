// socket, socketpair, bind, listen, accept, accept4, connect, getsockname, getpeername, shutdown, getsockopt, setsockopt.
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "kernel/rows.h"
#include "kernel/socket_address.h"

namespace dyetrace::test {
namespace {

class Socket : public RowsTest {};

TEST_F(Socket, a_tcp_connection_from_socket_to_shutdown) {
    const std::string shown = rows([&] {
        const int on = 1;
        int value = 0;
        socklen_t length = sizeof(value);
        REQUIRE(socket(AF_INET, SOCK_STREAM, 0) == 3);
        REQUIRE(setsockopt(3, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0);
        REQUIRE(Address::loopback(0).bind(3) == 0);
        REQUIRE(listen(3, 5) == 0);
        const Address server = Address::of(3);
        REQUIRE(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP) == 4);
        REQUIRE(server.connect(4) == 0);
        REQUIRE(accept(3, nullptr, nullptr) == 5);
        REQUIRE(getsockopt(5, IPPROTO_TCP, TCP_NODELAY, &value, &length) == 0);
        Address::peer_of(5);
        REQUIRE(server.connect(4) < 0);
        REQUIRE(shutdown(4, SHUT_WR) == 0);
        REQUIRE(shutdown(5, SHUT_RDWR) == 0);
        REQUIRE(close(5) == 0);
        REQUIRE(close(4) == 0);
        REQUIRE(close(3) == 0);
    });
    EXPECT_EQ(shown, lines(R"(
        socket network =3 fd=3 #1 socket [sockfs] socket:[N] O_RDWR {"family":"AF_INET","type":"SOCK_STREAM","protocol":0}
        setsockopt network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR {"level":"SOL_SOCKET","optname":"SO_REUSEADDR","optlen":4}
        bind network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port1 > - {"addrlen":16}
        listen network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port2 > - {"backlog":5}
        getsockname network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port2 > -
        socket network =4 fd=4 #2 socket [sockfs] socket:[N] O_RDWR {"family":"AF_INET","type":"SOCK_STREAM|SOCK_CLOEXEC","protocol":6}
        connect network =0 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port3 > 127.0.0.1:port2 connection1 {"addrlen":16}
        accept network =5 fd=5 #3 socket [sockfs] socket:[N] O_RDWR => #1 socket:[N] 127.0.0.1:port2 > 127.0.0.1:port3 connection1 {"fd":3}
        getsockopt network =0 fd=5 #3 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port2 > 127.0.0.1:port3 connection1 {"level":"SOL_TCP","optname":"TCP_NODELAY"}
        getpeername network =0 fd=5 #3 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port2 > 127.0.0.1:port3 connection1
        connect network =EISCONN fd=4 #2 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port3 > 127.0.0.1:port2 connection1 {"addrlen":16}
        shutdown network =0 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port3 > 127.0.0.1:port2 connection1 {"how":"SHUT_WR"}
        shutdown network =0 fd=5 #3 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port2 > 127.0.0.1:port3 connection1 {"how":"SHUT_RDWR"}
        close network =0 fd=5 #3 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port2 > 127.0.0.1:port3 connection1
        close network =0 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port3 > 127.0.0.1:port2 connection1
        close network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port2 > -
    )"));
}

TEST_F(Socket, a_connection_over_ipv6_with_a_nonblocking_end) {
    const auto connect_and_send = [&] {
        Address peer;
        REQUIRE(socket(AF_INET6, SOCK_STREAM, 0) == 3);
        REQUIRE(Address::loopback6(0).bind(3) == 0);
        REQUIRE(listen(3, 5) == 0);
        const Address server = Address::of(3);
        REQUIRE(socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0) == 4);
        REQUIRE(server.connect(4) < 0);
        REQUIRE(accept4(3, peer.get(), &peer.length(), SOCK_NONBLOCK | SOCK_CLOEXEC) == 5);
        REQUIRE(accept4(3, nullptr, nullptr, 77) < 0);
        REQUIRE(send(4, "abc", 3, 0) == 3);
    };
    // Nearly always the handshake is done when connect returns; a busy kernel may leave it for later.
    std::string shown = rows(connect_and_send);
    for (int again = 0;
         again < 20 && shown.find(":port2 connection1 {\"addrlen\"") == std::string::npos;
         ++again) {
        shown = rows(connect_and_send);
    }
    EXPECT_EQ(shown, lines(R"(
        socket network =3 fd=3 #1 socket [sockfs] socket:[N] O_RDWR {"family":"AF_INET6","type":"SOCK_STREAM","protocol":0}
        bind network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR ::1:port1 > - {"addrlen":28}
        listen network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR ::1:port2 > - {"backlog":5}
        getsockname network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR ::1:port2 > -
        socket network =4 fd=4 #2 socket [sockfs] socket:[N] O_RDWR|O_NONBLOCK {"family":"AF_INET6","type":"SOCK_STREAM|SOCK_NONBLOCK","protocol":0}
        connect network =EINPROGRESS fd=4 #2 socket [sockfs] socket:[N] O_RDWR|O_NONBLOCK ::1:port3 > ::1:port2 connection1 {"addrlen":28}
        accept4 network =5 fd=5 #3 socket [sockfs] socket:[N] O_RDWR|O_NONBLOCK => #1 socket:[N] ::1:port2 > ::1:port3 connection1 {"fd":3,"flags":"SOCK_CLOEXEC|SOCK_NONBLOCK"}
        accept4 network =EINVAL fd=3 #1 socket [sockfs] socket:[N] O_RDWR ::1:port2 > - {"fd":3,"flags":"0x4d"}
        sendto network =3 fd=4 #2 socket [sockfs] socket:[N] O_RDWR|O_NONBLOCK 3/3 ::1:port3 > ::1:port2 connection1 stream@0 {"len":3,"flags":"0","addr_len":0}
    )"));
}

TEST_F(Socket, errors_tell_what_was_tried) {
    const std::string shown = rows([&] {
        REQUIRE(socket(AF_INET, SOCK_STREAM, 0) == 3);
        REQUIRE(Address::loopback(1).connect(3) < 0);
        REQUIRE(Address::of_text("192.0.2.1", 99).bind(3) < 0);
        REQUIRE(socket(77, SOCK_STREAM, 0) < 0);
        REQUIRE(listen(99, 1) < 0);
        REQUIRE(open("/dev/null", O_RDONLY) == 4);
        REQUIRE(listen(4, 1) < 0);
        REQUIRE(shutdown(3, SHUT_RD) < 0);
        REQUIRE(setsockopt(3, SOL_SOCKET, 9999, nullptr, 0) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        socket network =3 fd=3 #1 socket [sockfs] socket:[N] O_RDWR {"family":"AF_INET","type":"SOCK_STREAM","protocol":0}
        connect network =ECONNREFUSED fd=3 #1 socket [sockfs] socket:[N] O_RDWR - > 127.0.0.1:port1 {"addrlen":16}
        bind network =EADDRNOTAVAIL fd=3 #1 socket [sockfs] socket:[N] O_RDWR 192.0.2.1:port2 > 127.0.0.1 {"addrlen":16}
        socket network =EAFNOSUPPORT {"family":"0x4d","type":"SOCK_STREAM","protocol":0}
        listen network =EBADF fd=99 {"backlog":1}
        openat file =4 fd=4 #2 character_device [devtmpfs] /dev/null "/dev/null" O_RDONLY {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
        listen network =ENOTSOCK fd=4 #2 character_device [devtmpfs] /dev/null O_RDONLY {"backlog":1}
        shutdown network =ENOTCONN fd=3 #1 socket [sockfs] socket:[N] O_RDWR - > 127.0.0.1 {"how":"SHUT_RD"}
        setsockopt network =EINVAL fd=3 #1 socket [sockfs] socket:[N] O_RDWR - > 127.0.0.1 {"level":"SOL_SOCKET","optname":"0x270f","optlen":0}
    )"));
}

TEST_F(Socket, unix_sockets_are_named_by_their_path) {
    const std::string shown = rows([&] {
        REQUIRE(socket(AF_UNIX, SOCK_STREAM, 0) == 3);
        REQUIRE(Address::unix_path(at("socket")).bind(3) == 0);
        REQUIRE(listen(3, 5) == 0);
        REQUIRE(socket(AF_UNIX, SOCK_STREAM, 0) == 4);
        REQUIRE(Address::unix_path(at("socket")).connect(4) == 0);
        REQUIRE(accept(3, nullptr, nullptr) == 5);
        REQUIRE(write(4, "abc", 3) == 3);
        REQUIRE(socket(AF_UNIX, SOCK_DGRAM, 0) == 6);
        REQUIRE(Address::abstract("dyetrace test").bind(6) == 0);
        REQUIRE(socket(AF_UNIX, SOCK_SEQPACKET, 0) == 7);
        REQUIRE(Address::unix_path(at("none")).connect(7) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        socket network =3 fd=3 #1 socket [sockfs] socket:[N] O_RDWR {"family":"AF_UNIX","type":"SOCK_STREAM","protocol":0}
        bind network =0 fd=3 #1 socket [sockfs] ~/socket O_RDWR ~/socket > - {"addrlen":11}
        listen network =0 fd=3 #1 socket [sockfs] ~/socket O_RDWR ~/socket > - {"backlog":5}
        socket network =4 fd=4 #2 socket [sockfs] socket:[N] O_RDWR {"family":"AF_UNIX","type":"SOCK_STREAM","protocol":0}
        connect network =0 fd=4 #2 socket [sockfs] socket:[N] O_RDWR - > ~/socket {"addrlen":11}
        accept network =5 fd=5 #3 socket [sockfs] ~/socket O_RDWR => #1 ~/socket ~/socket > - {"fd":3}
        write network =3 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 3/3 - > ~/socket {"count":3}
        socket network =6 fd=6 #4 socket [sockfs] socket:[N] O_RDWR {"family":"AF_UNIX","type":"SOCK_DGRAM","protocol":0}
        bind network =0 fd=6 #4 socket [sockfs] @dyetrace test O_RDWR @dyetrace test > - {"addrlen":16}
        socket network =7 fd=7 #5 socket [sockfs] socket:[N] O_RDWR {"family":"AF_UNIX","type":"SOCK_SEQPACKET","protocol":0}
        connect network =ENOENT fd=7 #5 socket [sockfs] socket:[N] O_RDWR - > ~/none {"addrlen":9}
    )"));
}

// The kernel writes no more than there is room for, and says how long the address is all the same.
TEST_F(Socket, an_address_that_does_not_fit_is_not_the_memory_after_it) {
    const std::string shown = rows([&] {
        char memory[128];
        socklen_t length = 0;
        auto* const name = reinterpret_cast<sockaddr*>(memory);
        const auto room_for = [&](socklen_t bytes) {
            memset(memory, 'A', sizeof(memory));
            length = bytes;
        };
        REQUIRE(socket(AF_UNIX, SOCK_STREAM, 0) == 3);
        REQUIRE(Address::unix_path(at("socket")).bind(3) == 0);
        REQUIRE(listen(3, 5) == 0);
        REQUIRE(socket(AF_UNIX, SOCK_STREAM, 0) == 4);
        REQUIRE(Address::abstract("client").bind(4) == 0);
        REQUIRE(Address::unix_path(at("socket")).connect(4) == 0);
        room_for(5);
        REQUIRE(accept(3, name, &length) == 5);
        REQUIRE(Address::unix_path(at("socket")).connect(socket(AF_UNIX, SOCK_STREAM, 0)) == 0);
        room_for(5);
        REQUIRE(accept4(3, name, &length, 0) == 7);
        room_for(5);
        REQUIRE(getsockname(3, name, &length) == 0);
        room_for(5);
        REQUIRE(getpeername(4, name, &length) == 0);
        room_for(0);
        REQUIRE(getpeername(4, name, &length) == 0);
        room_for(128);
        REQUIRE(getpeername(4, name, &length) == 0);
        room_for(128);
        REQUIRE(getpeername(3, name, &length) < 0);

        REQUIRE(socket(AF_UNIX, SOCK_DGRAM, 0) == 8);
        REQUIRE(Address::abstract("receiver").bind(8) == 0);
        REQUIRE(socket(AF_UNIX, SOCK_DGRAM, 0) == 9);
        REQUIRE(Address::abstract("sender").bind(9) == 0);
        REQUIRE(Address::abstract("receiver").connect(9) == 0);
        for (int i = 0; i < 6; ++i) {
            REQUIRE(write(9, "abc", 3) == 3);
        }
        char data[8];
        room_for(5);
        REQUIRE(recvfrom(8, data, sizeof(data), 0, name, &length) == 3);
        room_for(128);
        REQUIRE(recvfrom(8, data, sizeof(data), 0, name, &length) == 3);
        iovec part{data, sizeof(data)};
        mmsghdr messages[2]{};
        char other[128];
        memset(other, 'B', sizeof(other));
        messages[0].msg_hdr = {memory, 5, &part, 1, nullptr, 0, 0};
        messages[1].msg_hdr = {other, 128, &part, 1, nullptr, 0, 0};
        REQUIRE(recvmsg(8, &messages[0].msg_hdr, 0) == 3);
        REQUIRE(recvmsg(8, &messages[1].msg_hdr, 0) == 3);
        messages[0].msg_hdr.msg_namelen = 5;
        messages[1].msg_hdr.msg_namelen = 128;
        REQUIRE(recvmmsg(8, messages, 2, 0, nullptr) == 2);
    });
    EXPECT_EQ(shown, lines(R"(
        socket network =3 fd=3 #1 socket [sockfs] socket:[N] O_RDWR {"family":"AF_UNIX","type":"SOCK_STREAM","protocol":0}
        bind network =0 fd=3 #1 socket [sockfs] ~/socket O_RDWR ~/socket > - {"addrlen":11}
        listen network =0 fd=3 #1 socket [sockfs] ~/socket O_RDWR ~/socket > - {"backlog":5}
        socket network =4 fd=4 #2 socket [sockfs] socket:[N] O_RDWR {"family":"AF_UNIX","type":"SOCK_STREAM","protocol":0}
        bind network =0 fd=4 #2 socket [sockfs] @client O_RDWR @client > - {"addrlen":9}
        connect network =0 fd=4 #2 socket [sockfs] @client O_RDWR @client > ~/socket {"addrlen":11}
        accept network =5 fd=5 #3 socket [sockfs] ~/socket O_RDWR => #1 ~/socket ~/socket > @client {"fd":3}
        socket network =6 fd=6 #4 socket [sockfs] socket:[N] O_RDWR {"family":"AF_UNIX","type":"SOCK_STREAM","protocol":0}
        connect network =0 fd=6 #4 socket [sockfs] socket:[N] O_RDWR - > ~/socket {"addrlen":11}
        accept4 network =7 fd=7 #5 socket [sockfs] ~/socket O_RDWR => #1 ~/socket ~/socket > - {"fd":3,"flags":"0"}
        getsockname network =0 fd=3 #1 socket [sockfs] ~/socket O_RDWR ~/socket > -
        getpeername network =0 fd=4 #2 socket [sockfs] @client O_RDWR @client > ~/socket
        getpeername network =0 fd=4 #2 socket [sockfs] @client O_RDWR @client > ~/socket
        getpeername network =0 fd=4 #2 socket [sockfs] @client O_RDWR @client > ~/socket
        getpeername network =ENOTCONN fd=3 #1 socket [sockfs] ~/socket O_RDWR ~/socket > -
        socket network =8 fd=8 #6 socket [sockfs] socket:[N] O_RDWR {"family":"AF_UNIX","type":"SOCK_DGRAM","protocol":0}
        bind network =0 fd=8 #6 socket [sockfs] @receiver O_RDWR @receiver > - {"addrlen":11}
        socket network =9 fd=9 #7 socket [sockfs] socket:[N] O_RDWR {"family":"AF_UNIX","type":"SOCK_DGRAM","protocol":0}
        bind network =0 fd=9 #7 socket [sockfs] @sender O_RDWR @sender > - {"addrlen":9}
        connect network =0 fd=9 #7 socket [sockfs] @sender O_RDWR @sender > @receiver {"addrlen":11}
        write network =3 fd=9 #7 socket [sockfs] @sender O_RDWR 3/3 @sender > @receiver {"count":3}
        write network =3 fd=9 #7 socket [sockfs] @sender O_RDWR 3/3 @sender > @receiver {"count":3}
        write network =3 fd=9 #7 socket [sockfs] @sender O_RDWR 3/3 @sender > @receiver {"count":3}
        write network =3 fd=9 #7 socket [sockfs] @sender O_RDWR 3/3 @sender > @receiver {"count":3}
        write network =3 fd=9 #7 socket [sockfs] @sender O_RDWR 3/3 @sender > @receiver {"count":3}
        write network =3 fd=9 #7 socket [sockfs] @sender O_RDWR 3/3 @sender > @receiver {"count":3}
        recvfrom network =3 fd=8 #6 socket [sockfs] @receiver O_RDWR 3/8 @receiver > - {"size":8,"flags":"0"}
        recvfrom network =3 fd=8 #6 socket [sockfs] @receiver O_RDWR 3/8 @receiver > @sender {"size":8,"flags":"0"}
        recvmsg network =3 fd=8 #6 socket [sockfs] @receiver O_RDWR 3/8 @receiver > - {"flags":"0"}
        recvmsg network =3 fd=8 #6 socket [sockfs] @receiver O_RDWR 3/8 @receiver > @sender {"flags":"0"}
        recvmmsg network =2 fd=8 #6 socket [sockfs] @receiver O_RDWR @receiver > - {"vlen":2,"flags":"0"}
    )"));
}

TEST_F(Socket, a_pair_has_two_ends) {
    const std::string shown = rows([&] {
        int ends[2];
        char buffer[8];
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
        REQUIRE(write(3, "abc", 3) == 3);
        REQUIRE(read(4, buffer, 8) == 3);
        REQUIRE(close(3) == 0);
        REQUIRE(read(4, buffer, 8) == 0);
        REQUIRE(send(4, "abc", 3, MSG_NOSIGNAL) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        socketpair network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR => #2 socket:[N] {"family":"AF_UNIX","type":"SOCK_STREAM|SOCK_CLOEXEC","protocol":0}
        write network =3 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 3/3 {"count":3}
        read network =3 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 3/8 {"count":8}
        close network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR
        read network =0 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 0/8 {"count":8}
        sendto network =EPIPE fd=4 #2 socket [sockfs] socket:[N] O_RDWR -/3 {"len":3,"flags":"MSG_NOSIGNAL","addr_len":0}
    )"));
}

}  // namespace
}  // namespace dyetrace::test
