// sendto, recvfrom, sendmsg, recvmsg, and read and write on sockets: TCP, UDP, unix stream and datagram, IPv6.
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "kernel/rows.h"
#include "kernel/socket_address.h"

namespace dyetrace::test {
namespace {

class Message : public RowsTest {
  protected:
    // Descriptors 3 listens, 4 and 5 are connected.
    static void connect_tcp(const Address& any) {
        REQUIRE(socket(any.get()->sa_family, SOCK_STREAM, 0) == 3);
        REQUIRE(any.bind(3) == 0);
        REQUIRE(listen(3, 5) == 0);
        REQUIRE(socket(any.get()->sa_family, SOCK_STREAM, 0) == 4);
        REQUIRE(Address::of(3).connect(4) == 0);
        REQUIRE(accept(3, nullptr, nullptr) == 5);
    }
    // What `rows` shows from the first event of a name on.
    static std::string from(const std::string& text, const std::string& name) {
        const std::size_t at = text.find("\n" + name + " ");
        return at == std::string::npos ? text : text.substr(at + 1);
    }
};

TEST_F(Message, tcp_bytes_have_their_place_in_the_stream) {
    const std::string shown = rows([&] {
        connect_tcp(Address::loopback(0));
        char buffer[100];
        iovec parts[] = {{buffer, 2}, {buffer + 2, 3}};
        msghdr message{};
        message.msg_iov = parts;
        message.msg_iovlen = 2;
        REQUIRE(send(4, "0123456789", 10, MSG_NOSIGNAL) == 10);
        REQUIRE(write(4, "abc", 3) == 3);
        REQUIRE(writev(4, parts, 2) == 5);
        REQUIRE(sendmsg(4, &message, MSG_DONTWAIT) == 5);
        REQUIRE(recv(5, buffer, 4, 0) == 4);
        REQUIRE(read(5, buffer, 7) == 7);
        REQUIRE(readv(5, parts, 2) == 5);
        REQUIRE(recvmsg(5, &message, 0) == 5);
        REQUIRE(recv(5, buffer, 100, MSG_DONTWAIT) == 2);
        REQUIRE(recv(5, buffer, 100, MSG_DONTWAIT) < 0);
        REQUIRE(write(5, "answer", 6) == 6);
        REQUIRE(read(4, buffer, 100) == 6);
        REQUIRE(shutdown(4, SHUT_WR) == 0);
        REQUIRE(read(5, buffer, 100) == 0);
        REQUIRE(send(4, "x", 1, MSG_NOSIGNAL) < 0);
    });
    EXPECT_EQ(from(shown, "sendto"), lines(R"(
        sendto network =10 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 10/10 127.0.0.1:port3 > 127.0.0.1:port2 connection1 stream@0 {"len":10,"flags":"MSG_NOSIGNAL","addr_len":0}
        write network =3 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 3/3 127.0.0.1:port3 > 127.0.0.1:port2 connection1 stream@10 {"count":3}
        writev network =5 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 5/5 127.0.0.1:port3 > 127.0.0.1:port2 connection1 stream@13 {"vlen":2}
        sendmsg network =5 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 5/5 127.0.0.1:port3 > 127.0.0.1:port2 connection1 stream@18 {"flags":"MSG_DONTWAIT"}
        recvfrom network =4 fd=5 #3 socket [sockfs] socket:[N] O_RDWR 4/4 127.0.0.1:port2 > 127.0.0.1:port3 connection1 stream@0 {"size":4,"flags":"0"}
        read network =7 fd=5 #3 socket [sockfs] socket:[N] O_RDWR 7/7 127.0.0.1:port2 > 127.0.0.1:port3 connection1 stream@4 {"count":7}
        readv network =5 fd=5 #3 socket [sockfs] socket:[N] O_RDWR 5/5 127.0.0.1:port2 > 127.0.0.1:port3 connection1 stream@11 {"vlen":2}
        recvmsg network =5 fd=5 #3 socket [sockfs] socket:[N] O_RDWR 5/5 127.0.0.1:port2 > 127.0.0.1:port3 connection1 stream@16 {"flags":"0"}
        recvfrom network =2 fd=5 #3 socket [sockfs] socket:[N] O_RDWR 2/100 127.0.0.1:port2 > 127.0.0.1:port3 connection1 stream@21 {"size":100,"flags":"MSG_DONTWAIT"}
        recvfrom network =EAGAIN fd=5 #3 socket [sockfs] socket:[N] O_RDWR -/100 127.0.0.1:port2 > 127.0.0.1:port3 connection1 {"size":100,"flags":"MSG_DONTWAIT"}
        write network =6 fd=5 #3 socket [sockfs] socket:[N] O_RDWR 6/6 127.0.0.1:port2 > 127.0.0.1:port3 connection1 stream@0 {"count":6}
        read network =6 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 6/100 127.0.0.1:port3 > 127.0.0.1:port2 connection1 stream@0 {"count":100}
        shutdown network =0 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port3 > 127.0.0.1:port2 connection1 {"how":"SHUT_WR"}
        read network =0 fd=5 #3 socket [sockfs] socket:[N] O_RDWR 0/100 127.0.0.1:port2 > 127.0.0.1:port3 connection1 {"count":100}
        sendto network =EPIPE fd=4 #2 socket [sockfs] socket:[N] O_RDWR -/1 127.0.0.1:port3 > 127.0.0.1:port2 connection1 {"len":1,"flags":"MSG_NOSIGNAL","addr_len":0}
    )"));
}

TEST_F(Message, a_connection_made_before_anybody_watched_is_known) {
    before_ = [] {
        char buffer[8];
        connect_tcp(Address::loopback(0));
        REQUIRE(send(4, "01234", 5, 0) == 5);
        REQUIRE(recv(5, buffer, 3, 0) == 3);
    };
    const std::string shown = rows([] {
        char buffer[8];
        REQUIRE(send(4, "567", 3, 0) == 3);
        REQUIRE(recv(5, buffer, 8, 0) == 5);
        REQUIRE(accept4(3, nullptr, nullptr, SOCK_NONBLOCK | 77) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        sendto network =3 fd=4 #1 socket [sockfs] socket:[N] O_RDWR 3/3 127.0.0.1:port1 > 127.0.0.1:port2 connection1 stream@5 {"len":3,"flags":"0","addr_len":0}
        recvfrom network =5 fd=5 #2 socket [sockfs] socket:[N] O_RDWR 5/8 127.0.0.1:port2 > 127.0.0.1:port1 connection1 stream@3 {"size":8,"flags":"0"}
        accept4 network =EINVAL fd=3 #3 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port2 > - {"fd":3,"flags":"SOCK_NONBLOCK|0x4d"}
    )"));
}

TEST_F(Message, tcp_over_ipv6) {
    const std::string shown = rows([&] {
        connect_tcp(Address::loopback6(0));
        char buffer[100];
        REQUIRE(send(4, "012", 3, 0) == 3);
        REQUIRE(recv(5, buffer, 100, 0) == 3);
    });
    EXPECT_EQ(from(shown, "sendto"), lines(R"(
        sendto network =3 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 3/3 ::1:port3 > ::1:port2 connection1 stream@0 {"len":3,"flags":"0","addr_len":0}
        recvfrom network =3 fd=5 #3 socket [sockfs] socket:[N] O_RDWR 3/100 ::1:port2 > ::1:port3 connection1 stream@0 {"size":100,"flags":"0"}
    )"));
}

TEST_F(Message, udp_names_the_other_end_of_each_message) {
    const std::string shown = rows([&] {
        char buffer[100];
        Address peer;
        REQUIRE(socket(AF_INET, SOCK_DGRAM, 0) == 3);
        REQUIRE(socket(AF_INET, SOCK_DGRAM, 0) == 4);
        REQUIRE(Address::loopback(0).bind(3) == 0);
        Address server = Address::of(3);
        iovec part = {buffer, 100};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_name = server.get();
        message.msg_namelen = server.length();
        REQUIRE(sendto(4, "abc", 3, 0, server.get(), server.length()) == 3);
        REQUIRE(sendmsg(4, &message, 0) == 100);
        REQUIRE(recvfrom(3, buffer, 100, 0, peer.get(), &peer.length()) == 3);
        message.msg_name = peer.get();
        message.msg_namelen = sizeof(sockaddr_storage);
        REQUIRE(recvmsg(3, &message, 0) == 100);
        REQUIRE(sendto(3, "", 0, 0, peer.get(), peer.length()) == 0);
        REQUIRE(recv(4, buffer, 100, 0) == 0);
        REQUIRE(server.connect(4) == 0);
        REQUIRE(send(4, "de", 2, 0) == 2);
        REQUIRE(recv(3, buffer, 1, MSG_TRUNC) == 2);
        REQUIRE(recv(3, buffer, 1, MSG_DONTWAIT) < 0);
        REQUIRE(send(3, "x", 1, 0) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        socket network =3 fd=3 #1 socket [sockfs] socket:[N] O_RDWR {"family":"AF_INET","type":"SOCK_DGRAM","protocol":0}
        socket network =4 fd=4 #2 socket [sockfs] socket:[N] O_RDWR {"family":"AF_INET","type":"SOCK_DGRAM","protocol":0}
        bind network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port1 > - {"addrlen":16}
        getsockname network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port2 > -
        sendto network =3 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 3/3 0.0.0.0:port3 > 127.0.0.1:port2 {"len":3,"flags":"0","addr_len":16}
        sendmsg network =100 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 100/100 0.0.0.0:port3 > 127.0.0.1:port2 {"flags":"0"}
        recvfrom network =3 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 3/100 127.0.0.1:port2 > 127.0.0.1:port3 {"size":100,"flags":"0"}
        recvmsg network =100 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 100/100 127.0.0.1:port2 > 127.0.0.1:port3 {"flags":"0"}
        sendto network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 0/0 127.0.0.1:port2 > 127.0.0.1:port3 {"len":0,"flags":"0","addr_len":16}
        recvfrom network =0 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 0/100 0.0.0.0:port3 > - {"size":100,"flags":"0"}
        connect network =0 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port3 > 127.0.0.1:port2 {"addrlen":16}
        sendto network =2 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 2/2 127.0.0.1:port3 > 127.0.0.1:port2 {"len":2,"flags":"0","addr_len":0}
        recvfrom network =2 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 2/1 127.0.0.1:port2 > - {"size":1,"flags":"MSG_TRUNC"}
        recvfrom network =EAGAIN fd=3 #1 socket [sockfs] socket:[N] O_RDWR -/1 127.0.0.1:port2 > - {"size":1,"flags":"MSG_DONTWAIT"}
        sendto network =EDESTADDRREQ fd=3 #1 socket [sockfs] socket:[N] O_RDWR -/1 127.0.0.1:port2 > - {"len":1,"flags":"0","addr_len":0}
    )"));
}

TEST_F(Message, udp_over_ipv6) {
    const std::string shown = rows([&] {
        char buffer[100];
        Address peer;
        REQUIRE(socket(AF_INET6, SOCK_DGRAM, 0) == 3);
        REQUIRE(socket(AF_INET6, SOCK_DGRAM, 0) == 4);
        REQUIRE(Address::loopback6(0).bind(3) == 0);
        const Address server = Address::of(3);
        REQUIRE(sendto(4, "abc", 3, 0, server.get(), server.length()) == 3);
        REQUIRE(recvfrom(3, buffer, 100, 0, peer.get(), &peer.length()) == 3);
    });
    EXPECT_EQ(shown, lines(R"(
        socket network =3 fd=3 #1 socket [sockfs] socket:[N] O_RDWR {"family":"AF_INET6","type":"SOCK_DGRAM","protocol":0}
        socket network =4 fd=4 #2 socket [sockfs] socket:[N] O_RDWR {"family":"AF_INET6","type":"SOCK_DGRAM","protocol":0}
        bind network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR ::1:port1 > - {"addrlen":28}
        getsockname network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR ::1:port2 > -
        sendto network =3 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 3/3 :::port3 > ::1:port2 {"len":3,"flags":"0","addr_len":28}
        recvfrom network =3 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 3/100 ::1:port2 > ::1:port3 {"size":100,"flags":"0"}
    )"));
}

TEST_F(Message, unix_datagrams_name_a_path_or_an_abstract_name) {
    const std::string shown = rows([&] {
        char buffer[100];
        Address peer;
        REQUIRE(socket(AF_UNIX, SOCK_DGRAM, 0) == 3);
        REQUIRE(socket(AF_UNIX, SOCK_DGRAM, 0) == 4);
        const Address server = Address::unix_path(at("server"));
        const Address client = Address::abstract("dyetrace client");
        REQUIRE(server.bind(3) == 0);
        REQUIRE(client.bind(4) == 0);
        REQUIRE(sendto(4, "abc", 3, 0, server.get(), server.length()) == 3);
        REQUIRE(recvfrom(3, buffer, 100, 0, peer.get(), &peer.length()) == 3);
        REQUIRE(sendto(3, "de", 2, 0, peer.get(), peer.length()) == 2);
        REQUIRE(read(4, buffer, 100) == 2);
        REQUIRE(server.connect(4) == 0);
        REQUIRE(write(4, "f", 1) == 1);
    });
    EXPECT_EQ(shown, lines(R"(
        socket network =3 fd=3 #1 socket [sockfs] socket:[N] O_RDWR {"family":"AF_UNIX","type":"SOCK_DGRAM","protocol":0}
        socket network =4 fd=4 #2 socket [sockfs] socket:[N] O_RDWR {"family":"AF_UNIX","type":"SOCK_DGRAM","protocol":0}
        bind network =0 fd=3 #1 socket [sockfs] ~/server O_RDWR ~/server > - {"addrlen":11}
        bind network =0 fd=4 #2 socket [sockfs] @dyetrace client O_RDWR @dyetrace client > - {"addrlen":18}
        sendto network =3 fd=4 #2 socket [sockfs] @dyetrace client O_RDWR 3/3 @dyetrace client > ~/server {"len":3,"flags":"0","addr_len":11}
        recvfrom network =3 fd=3 #1 socket [sockfs] ~/server O_RDWR 3/100 ~/server > @dyetrace client {"size":100,"flags":"0"}
        sendto network =2 fd=3 #1 socket [sockfs] ~/server O_RDWR 2/2 ~/server > @dyetrace client {"len":2,"flags":"0","addr_len":18}
        read network =2 fd=4 #2 socket [sockfs] @dyetrace client O_RDWR 2/100 @dyetrace client > - {"count":100}
        connect network =0 fd=4 #2 socket [sockfs] @dyetrace client O_RDWR @dyetrace client > ~/server {"addrlen":11}
        write network =1 fd=4 #2 socket [sockfs] @dyetrace client O_RDWR 1/1 @dyetrace client > ~/server {"count":1}
    )"));
}

}  // namespace
}  // namespace dyetrace::test
