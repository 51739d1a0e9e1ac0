// 32-bit calls whose arguments lie behind a pointer: socketcall, the old mmap, the old select. Each looks like the call
// that it stands for.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/net.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "kernel/compat.h"
#include "kernel/rows.h"
#include "kernel/socket_address.h"

namespace dyetrace::test {
namespace {

using Words = std::array<std::uint32_t, 6>;

using Packed = RowsTest;

// How the program calls a function of sockets: through socketcall, or by the call that i386 has for it.
class SocketCall : public RowsTest, public testing::WithParamInterface<bool> {
  protected:
    int call(int subcall, const Words& words) {
        constexpr const char* kNames[] = {"",           "socket",   "bind",        "connect",
                                          "listen",     "accept4",  "getsockname", "getpeername",
                                          "socketpair", "sendto",   "recvfrom",    "sendto",
                                          "recvfrom",   "shutdown", "setsockopt",  "getsockopt",
                                          "sendmsg",    "recvmsg",  "accept4",     "recvmmsg",
                                          "sendmmsg"};
        if (GetParam()) {
            return call32(
                number_of("socketcall"), static_cast<std::uint32_t>(subcall), memory_.put(words));
        }
        return call32(
            number_of(kNames[subcall]), words[0], words[1], words[2], words[3], words[4], words[5]);
    }
    LowMemory memory_;
};

INSTANTIATE_TEST_SUITE_P(, SocketCall, testing::Bool(), [](const auto& packed) {
    return packed.param ? "packed" : "direct";
});

TEST_P(SocketCall, a_tcp_connection) {
    const std::string shown = rows([&] {
        const Address any = Address::loopback(0);
        const std::uint32_t address = memory_.put(any.get(), any.length());
        const std::uint32_t length = memory_.put(any.length()), value = memory_.put(1);
        const std::uint32_t text = memory_.put_text("abcdef");
        const std::array<std::uint32_t, 2> vector = {text, 6};
        const std::array<std::uint32_t, 7> header = {0, 0, memory_.put(vector), 1, 0, 0, 0};
        const std::uint32_t message = memory_.put(header);
        REQUIRE(call(SYS_SOCKET, {AF_INET, SOCK_STREAM, 0}) == 3);
        REQUIRE(call(SYS_SETSOCKOPT, {3, SOL_SOCKET, SO_REUSEADDR, value, 4}) == 0);
        REQUIRE(call(SYS_BIND, {3, address, any.length()}) == 0);
        REQUIRE(call(SYS_LISTEN, {3, 5}) == 0);
        REQUIRE(call(SYS_GETSOCKNAME, {3, address, length}) == 0);
        REQUIRE(call(SYS_SOCKET, {AF_INET, SOCK_STREAM, 0}) == 4);
        REQUIRE(call(SYS_CONNECT, {4, address, any.length()}) == 0);
        REQUIRE(call(SYS_ACCEPT, {3, address, length}) == 5);
        REQUIRE(call(SYS_GETPEERNAME, {5, address, length}) == 0);
        REQUIRE(call(SYS_GETSOCKOPT, {5, SOL_SOCKET, SO_ERROR, value, length}) == 0);
        REQUIRE(call(SYS_SEND, {4, text, 6, 0}) == 6);
        REQUIRE(call(SYS_RECV, {5, text, 4, 0}) == 4);
        REQUIRE(call(SYS_RECV, {5, text, 4, MSG_PEEK}) == 2);
        REQUIRE(call(SYS_SENDMSG, {4, message, 0}) == 6);
        REQUIRE(call(SYS_RECVMSG, {5, message, 0}) == 6);
        REQUIRE(call(SYS_SEND, {5, 1, 6, 0}) == -EFAULT);
        REQUIRE(call(SYS_SHUTDOWN, {4, SHUT_WR}) == 0);
        REQUIRE(call(SYS_ACCEPT4, {3, 0, 0, 77}) == -EINVAL);
        REQUIRE(call(SYS_BIND, {99, address, any.length()}) == -EBADF);
    });
    EXPECT_EQ(shown, lines(R"(
        i386 socket network =3 fd=3 #1 socket [sockfs] socket:[N] O_RDWR {"family":"AF_INET","type":"SOCK_STREAM","protocol":0}
        i386 setsockopt network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR {"level":"SOL_SOCKET","optname":"SO_REUSEADDR","optlen":4}
        i386 bind network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port1 > - {"addrlen":16}
        i386 listen network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port2 > - {"backlog":5}
        i386 getsockname network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port2 > -
        i386 socket network =4 fd=4 #2 socket [sockfs] socket:[N] O_RDWR {"family":"AF_INET","type":"SOCK_STREAM","protocol":0}
        i386 connect network =0 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port3 > 127.0.0.1:port2 connection1 {"addrlen":16}
        i386 accept4 network =5 fd=5 #3 socket [sockfs] socket:[N] O_RDWR => #1 socket:[N] 127.0.0.1:port2 > 127.0.0.1:port3 connection1 {"fd":3,"flags":"0"}
        i386 getpeername network =0 fd=5 #3 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port2 > 127.0.0.1:port3 connection1
        i386 getsockopt network =0 fd=5 #3 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port2 > 127.0.0.1:port3 connection1 {"level":"SOL_SOCKET","optname":"SO_ERROR"}
        i386 sendto network =6 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 6/6 127.0.0.1:port3 > 127.0.0.1:port2 connection1 stream@0 {"len":6,"flags":"0","addr_len":0}
        i386 recvfrom network =4 fd=5 #3 socket [sockfs] socket:[N] O_RDWR 4/4 127.0.0.1:port2 > 127.0.0.1:port3 connection1 stream@0 {"size":4,"flags":"0"}
        i386 recvfrom network =2 fd=5 #3 socket [sockfs] socket:[N] O_RDWR 2/4 127.0.0.1:port2 > 127.0.0.1:port3 connection1 stream@4 {"size":4,"flags":"MSG_PEEK"}
        i386 sendmsg network =6 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 6/6 127.0.0.1:port3 > 127.0.0.1:port2 connection1 stream@6 {"flags":"0"}
        i386 recvmsg network =6 fd=5 #3 socket [sockfs] socket:[N] O_RDWR 6/6 127.0.0.1:port2 > 127.0.0.1:port3 connection1 stream@4 {"flags":"0"}
        i386 sendto network =EFAULT fd=5 #3 socket [sockfs] socket:[N] O_RDWR -/6 127.0.0.1:port2 > 127.0.0.1:port3 connection1 {"len":6,"flags":"0","addr_len":0}
        i386 shutdown network =0 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port3 > 127.0.0.1:port2 connection1 {"how":"SHUT_WR"}
        i386 accept4 network =EINVAL fd=3 #1 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port2 > - {"fd":3,"flags":"0x4d"}
        i386 bind network =EBADF fd=99 127.0.0.1:port3 > - {"addrlen":16}
    )"));
}

TEST_P(SocketCall, datagrams_have_addresses_and_parts) {
    const Trace trace = record([&] {
        const Address any = Address::loopback(0);
        const std::uint32_t address = memory_.put(any.get(), any.length());
        const std::uint32_t from = memory_.room(16), length = memory_.put(any.length());
        const std::uint32_t text = memory_.put_text("abcdef");
        const std::array<std::uint32_t, 2> vector = {text, 6};
        std::array<std::uint32_t, 16> headers{};  // two of 7 words and a length
        for (const std::size_t at : {std::size_t{0}, std::size_t{8}}) {
            headers[at] = address;
            headers[at + 1] = any.length();
            headers[at + 2] = memory_.put(vector);
            headers[at + 3] = 1;
        }
        const std::uint32_t messages = memory_.put(headers);
        REQUIRE(call(SYS_SOCKET, {AF_INET, SOCK_DGRAM, 0}) == 3);
        REQUIRE(call(SYS_SOCKET, {AF_INET, SOCK_DGRAM, 0}) == 4);
        REQUIRE(call(SYS_BIND, {3, address, any.length()}) == 0);
        REQUIRE(call(SYS_GETSOCKNAME, {3, address, length}) == 0);
        REQUIRE(call(SYS_SENDTO, {4, text, 3, 0, address, any.length()}) == 3);
        REQUIRE(call(SYS_RECVFROM, {3, text, 6, 0, from, length}) == 3);
        REQUIRE(call(SYS_SENDMMSG, {4, messages, 2, 0}) == 2);
        REQUIRE(call(SYS_RECVMMSG, {3, messages, 2, 0, 0}) == 2);
    });
    EXPECT_EQ(rows(trace), lines(R"(
        i386 socket network =3 fd=3 #1 socket [sockfs] socket:[N] O_RDWR {"family":"AF_INET","type":"SOCK_DGRAM","protocol":0}
        i386 socket network =4 fd=4 #2 socket [sockfs] socket:[N] O_RDWR {"family":"AF_INET","type":"SOCK_DGRAM","protocol":0}
        i386 bind network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port1 > - {"addrlen":16}
        i386 getsockname network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port2 > -
        i386 sendto network =3 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 3/3 0.0.0.0:port3 > 127.0.0.1:port2 {"len":3,"flags":"0","addr_len":16}
        i386 recvfrom network =3 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 3/6 127.0.0.1:port2 > 127.0.0.1:port3 {"size":6,"flags":"0"}
        i386 sendmmsg network =2 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 0.0.0.0:port3 > - {"vlen":2,"flags":"0"}
        i386 recvmmsg network =2 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 127.0.0.1:port2 > - {"vlen":2,"flags":"0"}
    )"));
    for (const char* name : {"sendmmsg", "recvmmsg"}) {
        const std::vector<Part> parts = trace.only(name).parts();
        ASSERT_EQ(parts.size(), 2u);
        for (const Part& part : parts) {
            EXPECT_EQ(part.bytes(), 6);
            EXPECT_EQ(part.requested(), 6);
            EXPECT_EQ(part.fd(), name[0] == 's' ? 4 : 3);
            EXPECT_TRUE(part.address().starts_with("127.0.0.1:"));
        }
    }
}

TEST_F(Packed, a_pair_made_through_socketcall_has_two_ends) {
    LowMemory memory;
    const std::uint32_t ends = memory.room(8);
    const std::string shown = rows([&] {
        const Words pair = {AF_UNIX, SOCK_STREAM, 0, ends};
        const Words send = {3, memory.put_text("abc"), 3, MSG_NOSIGNAL};
        const Words receive = {4, ends, 8, MSG_DONTWAIT};
        REQUIRE(call32(102, SYS_SOCKETPAIR, memory.put(pair)) == 0);
        REQUIRE(call32(102, SYS_SEND, memory.put(send)) == 3);
        REQUIRE(call32(102, SYS_RECV, memory.put(receive)) == 3);
        REQUIRE(call32(102, SYS_RECV, memory.put(receive)) == -EAGAIN);
    });
    EXPECT_EQ(shown, lines(R"(
        i386 socketpair network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR => #2 socket:[N] {"family":"AF_UNIX","type":"SOCK_STREAM","protocol":0}
        i386 sendto network =3 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 3/3 {"len":3,"flags":"MSG_NOSIGNAL","addr_len":0}
        i386 recvfrom network =3 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 3/8 {"size":8,"flags":"MSG_DONTWAIT"}
        i386 recvfrom network =EAGAIN fd=4 #2 socket [sockfs] socket:[N] O_RDWR -/8 {"size":8,"flags":"MSG_DONTWAIT"}
    )"));
}

TEST_F(Packed, what_cannot_be_read_or_is_no_call_stays_socketcall) {
    const std::string shown = rows([] {
        REQUIRE(call32(102, SYS_LISTEN, 1) == -EFAULT);
        REQUIRE(call32(102, 0, 1) == -EINVAL);
        REQUIRE(call32(102, 21, 1) == -EINVAL);
        REQUIRE(call32(102, 0xffffffff, 1) == -EINVAL);
    });
    EXPECT_EQ(shown, lines(R"(
        i386 socketcall network =EFAULT {"call":"SYS_LISTEN"}
        i386 socketcall network =EINVAL {"call":"0x0"}
        i386 socketcall network =EINVAL {"call":"0x15"}
        i386 socketcall network =EINVAL {"call":"0x*"}
    )"));
}

TEST_F(Packed, a_mapping_whose_arguments_cannot_be_read_says_nothing_of_a_file) {
    const Trace trace = record([] { REQUIRE(call32(90, 1) == -EFAULT); });
    const Event mmap = trace.only("mmap");
    EXPECT_EQ(mmap.error(), "EFAULT");
    EXPECT_EQ(mmap.fd(), std::nullopt);
    EXPECT_EQ(mmap.requested(), std::nullopt);
    EXPECT_EQ(mmap.object(), nullptr);
}

// A page that the program has never touched: entry cannot read it, the call makes it resident.
TEST_F(Packed, arguments_that_are_not_resident_at_entry_are_read_at_exit) {
    const Words words = {3, 7};
    const std::string file =
        make_file("arguments", {reinterpret_cast<const char*>(words.data()), sizeof(words)});
    const std::string shown = rows([&] {
        REQUIRE(socket(AF_UNIX, SOCK_STREAM, 0) == 3);
        const int fd = open(file.c_str(), O_RDONLY);
        void* memory = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_32BIT, fd, 0);
        REQUIRE(memory != MAP_FAILED);
        REQUIRE(call32(102,
                       SYS_LISTEN,
                       static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(memory))) ==
                -EINVAL);
    });
    EXPECT_EQ(split_rows(shown).back(), lines(R"(
        i386 listen network =EINVAL fd=3 #1 socket [sockfs] socket:[N] O_RDWR {"backlog":7}
    )"));
}

TEST_F(Packed, a_call_that_seccomp_denies_is_unpacked_too) {
    LowMemory memory;
    const std::string shown = rows([&] {
        sock_filter program[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x40000003, 0, 1),  // AUDIT_ARCH_I386
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
        sock_fprog filter = {4, program};
        const Words words = {AF_UNIX, SOCK_STREAM, 0};
        REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
        REQUIRE(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0);
        REQUIRE(call32(102, SYS_SOCKET, memory.put(words)) == -EPERM);
    });
    EXPECT_EQ(split_rows(shown).back(), lines(R"(
        i386 socket network =EPERM {"family":"AF_UNIX","type":"SOCK_STREAM","protocol":0}
    )"));
}

TEST_F(Packed, the_old_mmap_has_a_range_and_a_file) {
    const std::string file = make_file("data", std::string(8192, 'x'));
    LowMemory memory;
    const std::string shown = rows([&] {
        const Words mapping = {0, 4096, PROT_READ, MAP_PRIVATE | MAP_32BIT, 3, 4096};
        const Words unaligned = {0, 4096, PROT_READ, MAP_PRIVATE, 3, 100};
        const Words nameless = {0, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, 0xffffffff, 0};
        REQUIRE(open(file.c_str(), O_RDONLY) == 3);
        REQUIRE(call32(90, memory.put(mapping)) != -1);
        REQUIRE(call32(90, memory.put(unaligned)) == -EINVAL);
        REQUIRE(call32(90, memory.put(nameless)) != -1);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/data "~/data" O_RDONLY size=8192 {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
        i386 mmap memory =0x* fd=3 #1 file ~/data O_RDONLY @4096 size=8192 -/4096 {"addr":"0x0","len":4096,"prot":"PROT_READ","flags":"MAP_PRIVATE|MAP_32BIT","off":4096}
        i386 mmap memory =EINVAL fd=3 #1 file ~/data O_RDONLY @100 size=8192 -/4096 {"addr":"0x0","len":4096,"prot":"PROT_READ","flags":"MAP_PRIVATE","off":100}
        i386 mmap memory =0x* fd=-1 -/8192 {"addr":"0x0","len":8192,"prot":"PROT_READ","flags":"MAP_PRIVATE|MAP_ANONYMOUS","off":0}
    )"));
}

TEST_F(Packed, the_old_select_lists_its_descriptors) {
    LowMemory memory;
    const Trace trace = record([&] {
        const std::uint32_t readable = 1u << 3, writable = 1u << 4;
        const std::array<std::uint32_t, 5> words = {
            5, memory.put(readable), memory.put(writable), 0, memory.room(8)};
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        REQUIRE(call32(82, memory.put(words)) == 1);
    });
    const Event select = trace.only("select");
    EXPECT_EQ(select.argument(0), 5);
    ASSERT_EQ(select.touched().size(), 2u);
    EXPECT_EQ(select.touched()[0].fd, 3);
    EXPECT_EQ(select.touched()[0].events, 0u);
    EXPECT_EQ(select.touched()[1].fd, 4);
    EXPECT_EQ(select.touched()[1].events, static_cast<std::uint32_t>(POLLOUT));
}

TEST_F(Packed, ipc_names_what_it_was_asked_for) {
    const std::string shown = rows([] {
        REQUIRE(call32(117, 21, 0x7fffffff) == -EINVAL);
        REQUIRE(call32(117, 1 | 1 << 16, 0x7fffffff, 1, 0, 1) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        i386 ipc other =EINVAL {"call":"SHMAT","first":2147483647,"second":0,"third":0,"ptr":"0x0","fifth":0}
        i386 ipc other =EFAULT {"call":"SEMOP|0x10000","first":2147483647,"second":1,"third":0,"ptr":"0x1","fifth":0}
    )"));
}

}  // namespace
}  // namespace dyetrace::test
