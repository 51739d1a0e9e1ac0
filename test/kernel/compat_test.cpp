// Calls of 32-bit programs: other numbers, split offsets, 32-bit iovecs, and names that only i386 has.
#include "kernel/compat.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/ipc.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>

#include "kernel/rows.h"

namespace dyetrace::test {
namespace {

// O_LARGEFILE of i386; in the headers of 64-bit code it is 0.
constexpr int kReadWriteLarge = O_RDWR | 0100000;

class Compat : public RowsTest {
  protected:
    template <typename... Arguments>
    static int call(std::string_view name, Arguments... arguments) {
        return call32(number_of(name), static_cast<std::uint32_t>(arguments)...);
    }

    // Records with the memory made before.
    std::string rows32(const std::function<void(LowMemory&)>& program) {
        LowMemory memory;
        return rows([&] { program(memory); });
    }
};

TEST_F(Compat, reading_and_writing_with_offsets_in_two_registers) {
    const std::string file = make_file("data", "0123456789");
    const std::string shown = rows32([&](LowMemory& memory) {
        const std::uint32_t buffer = memory.room(64);
        const std::array<std::uint32_t, 4> parts = {buffer, 2, buffer + 2, 3};
        const std::uint32_t vector = memory.put(parts);
        const std::uint32_t position = memory.room(8);
        REQUIRE(call("open", memory.put_text(file), kReadWriteLarge, 0) == 3);
        REQUIRE(call("read", 3, buffer, 4) == 4);
        REQUIRE(call("write", 3, buffer, 2) == 2);
        REQUIRE(call("pread64", 3, buffer, 3, 7, 0) == 3);
        REQUIRE(call("pwrite64", 3, buffer, 3, 1, 2) == 3);
        REQUIRE(call("readv", 3, vector, 2) == 5);
        REQUIRE(call("writev", 3, vector, 2) == 5);
        REQUIRE(call("preadv", 3, vector, 2, 6, 0) == 5);
        REQUIRE(call("pwritev", 3, vector, 2, 6, 1) == 5);
        REQUIRE(call("preadv2", 3, vector, 2, -1, -1, 0) == 5);
        REQUIRE(call("pwritev2", 3, vector, 2, 5, 0, 0) == 5);
        REQUIRE(call("lseek", 3, -1, SEEK_CUR) == 20);
        REQUIRE(call("_llseek", 3, 1, 7, position, SEEK_SET) == 0);
        REQUIRE(call("close", 3) == 0);
        REQUIRE(call("close", 3) == -EBADF);
    });
    EXPECT_EQ(shown, lines(R"(
        i386 open file =3 fd=3 #1 file ~/data "~/data" O_RDWR size=10 {"flags":"O_RDWR|O_LARGEFILE","mode":"000"}
        i386 read file =4 fd=3 #1 file ~/data O_RDWR @0 size=10 4/4 {"count":4}
        i386 write file =2 fd=3 #1 file ~/data O_RDWR @4 size=10 2/2 {"count":2}
        i386 pread64 file =3 fd=3 #1 file ~/data O_RDWR @7 size=10 3/3 {"count":3,"pos_low":7,"pos_high":0}
        i386 pwrite64 file =3 fd=3 #1 file ~/data O_RDWR @8589934593 size=8589934596 3/3 {"count":3,"pos_low":1,"pos_high":2}
        i386 readv file =5 fd=3 #1 file ~/data O_RDWR @6 size=8589934596 5/5 {"vlen":2}
        i386 writev file =5 fd=3 #1 file ~/data O_RDWR @11 size=8589934596 5/5 {"vlen":2}
        i386 preadv file =5 fd=3 #1 file ~/data O_RDWR @6 size=8589934596 5/5 {"vlen":2,"pos_low":6,"pos_high":0}
        i386 pwritev file =5 fd=3 #1 file ~/data O_RDWR @4294967302 size=8589934596 5/5 {"vlen":2,"pos_low":6,"pos_high":1}
        i386 preadv2 file =5 fd=3 #1 file ~/data O_RDWR @16 size=8589934596 5/5 {"vlen":2,"pos_low":4294967295,"pos_high":4294967295,"flags":"0"}
        i386 pwritev2 file =5 fd=3 #1 file ~/data O_RDWR @5 size=8589934596 5/5 {"vlen":2,"pos_low":5,"pos_high":0,"flags":"0"}
        i386 lseek file =20 fd=3 #1 file ~/data O_RDWR size=8589934596 {"offset":-1,"whence":"SEEK_CUR"}
        i386 _llseek file =0 fd=3 #1 file ~/data O_RDWR size=8589934596 {"offset_high":1,"offset_low":7,"whence":"SEEK_SET"}
        i386 close file =0 fd=3 #1 file ~/data O_RDWR
        i386 close file =EBADF fd=3
    )"));
}

TEST_F(Compat, sizes_and_ranges_in_two_registers) {
    const std::string file = make_file("data", "0123456789");
    const std::string shown = rows32([&](LowMemory& memory) {
        const std::uint32_t path = memory.put_text(file);
        REQUIRE(call("truncate", path, 7) == 0);
        REQUIRE(call("truncate64", path, 5, 1) == 0);
        REQUIRE(call("openat", AT_FDCWD, path, kReadWriteLarge, 0) == 3);
        REQUIRE(call("ftruncate", 3, 7) == 0);
        REQUIRE(call("ftruncate64", 3, 8, 1) == 0);
        REQUIRE(call("fallocate", 3, 0, 4096, 1, 8192, 0) == 0);
        REQUIRE(call("fadvise64", 3, 2, 1, 4, POSIX_FADV_NORMAL) == 0);
        REQUIRE(call("readahead", 3, 2, 1, 4) == 0);
        REQUIRE(call("sync_file_range", 3, 2, 1, 4, 0, SYNC_FILE_RANGE_WRITE) == 0);
    });
    EXPECT_EQ(shown, lines(R"(
        i386 truncate file =0 #1 file ~/data "~/data" {"length":7}
        i386 truncate64 file =0 #1 file ~/data "~/data" {"length_low":5,"length_high":1}
        i386 openat file =3 fd=3 #1 file ~/data "~/data" O_RDWR size=4294967301 {"dfd":"AT_FDCWD","flags":"O_RDWR|O_LARGEFILE","mode":"000"}
        i386 ftruncate file =0 fd=3 #1 file ~/data O_RDWR size=7 {"length":7}
        i386 ftruncate64 file =0 fd=3 #1 file ~/data O_RDWR size=4294967304 {"length_low":8,"length_high":1}
        i386 fallocate file =0 fd=3 #1 file ~/data O_RDWR @4294971392 size=4294979584 {"mode":"0","offset_low":4096,"offset_high":1,"len_low":8192,"len_high":0}
        i386 fadvise64 file =0 fd=3 #1 file ~/data O_RDWR @4294967298 size=4294979584 -/4 {"offset_low":2,"offset_high":1,"len":4,"advice":"POSIX_FADV_NORMAL"}
        i386 readahead file =0 fd=3 #1 file ~/data O_RDWR @4294967298 size=4294979584 -/4 {"offset_low":2,"offset_high":1,"count":4}
        i386 sync_file_range file =0 fd=3 #1 file ~/data O_RDWR @4294967298 size=4294979584 {"offset_low":2,"offset_high":1,"nbytes_low":4,"nbytes_high":0,"flags":"SYNC_FILE_RANGE_WRITE"}
    )"));
}

TEST_F(Compat, names_that_only_this_table_has) {
    const std::string file = make_file("data", "0123456789");
    const std::string shown = rows32([&](LowMemory& memory) {
        const std::uint32_t path = memory.put_text(file), buffer = memory.room(256);
        REQUIRE(call("open", path, O_RDWR, 0) == 3);
        REQUIRE(call("stat64", path, buffer) == 0);
        REQUIRE(call("lstat64", path, buffer) == 0);
        REQUIRE(call("fstat64", 3, buffer) == 0);
        REQUIRE(call("fstatat64", AT_FDCWD, path, buffer, 0) == 0);
        REQUIRE(call("oldstat", path, buffer) <= 0);
        REQUIRE(call("oldlstat", path, buffer) <= 0);
        REQUIRE(call("oldfstat", 3, buffer) <= 0);
        REQUIRE(call("statfs64", path, 84, buffer) == 0);
        REQUIRE(call("fstatfs64", 3, 84, buffer) == 0);
        REQUIRE(call("chown32", path, 1, 2) == 0);
        REQUIRE(call("fchown32", 3, -1, 0) == 0);
        REQUIRE(call("lchown32", path, 0, 0) == 0);
        REQUIRE(call("fcntl64", 3, F_GETFD, 0) == 0);
        REQUIRE(call("utimensat_time64", AT_FDCWD, path, 0, 0) == 0);
        REQUIRE(call("umount", memory.put_text(at("none"))) == -ENOENT);
    });
    EXPECT_EQ(shown, lines(R"(
        i386 open file =3 fd=3 #1 file ~/data "~/data" O_RDWR size=10 {"flags":"O_RDWR","mode":"000"}
        i386 stat64 metadata =0 #1 file ~/data "~/data"
        i386 lstat64 metadata =0 #1 file ~/data "~/data"
        i386 fstat64 metadata =0 fd=3 #1 file ~/data O_RDWR size=10
        i386 fstatat64 metadata =0 #1 file ~/data "~/data" {"dfd":"AT_FDCWD","flag":"0"}
        i386 oldstat metadata =EOVERFLOW ~/data "~/data"
        i386 oldlstat metadata =EOVERFLOW ~/data "~/data"
        i386 oldfstat metadata =EOVERFLOW fd=3 #1 file ~/data O_RDWR size=10
        i386 statfs64 metadata =0 #1 file ~/data "~/data" {"size":84}
        i386 fstatfs64 metadata =0 fd=3 #1 file ~/data O_RDWR size=10 {"size":84}
        i386 chown32 metadata =0 #1 file ~/data "~/data" {"user":1,"group":2}
        i386 fchown32 metadata =0 fd=3 #1 file ~/data O_RDWR size=10 {"user":-1,"group":0}
        i386 lchown32 metadata =0 #1 file ~/data "~/data" {"user":0,"group":0}
        i386 fcntl64 file =0 fd=3 #1 file ~/data O_RDWR size=10 {"fd":3,"cmd":"F_GETFD"}
        i386 utimensat_time64 metadata =0 #1 file ~/data "~/data" {"dfd":"AT_FDCWD","flags":"0"}
        i386 umount metadata =ENOENT ~/none "~/none" {"flags":0}
    )"));
}

TEST_F(Compat, mappings_and_copies) {
    const std::string from = make_file("from", std::string(8192, 'x')), to = make_file("to", "");
    const std::string shown = rows32([&](LowMemory& memory) {
        const std::array<std::uint32_t, 6> old = {0, 4096, PROT_READ, MAP_PRIVATE, 3, 4096};
        const std::uint32_t position = memory.put(std::uint64_t{5});
        const std::uint32_t short_position =
            memory.put(std::array<std::uint32_t, 2>{6, 0xffffffff});
        REQUIRE(call("open", memory.put_text(from), O_RDONLY, 0) == 3);
        REQUIRE(call("open", memory.put_text(to), O_RDWR, 0) == 4);
        REQUIRE(call("mmap2", 0, 4096, PROT_READ, MAP_PRIVATE | MAP_32BIT, 3, 1) != -1);
        REQUIRE(call("mmap", memory.put(old)) != -1);
        REQUIRE(call("sendfile64", 4, 3, position, 7) == 7);
        REQUIRE(call("sendfile", 4, 3, short_position, 7) == 7);
        REQUIRE(call("copy_file_range", 3, position, 4, 0, 8, 0) == 8);
    });
    EXPECT_EQ(shown, lines(R"(
        i386 open file =3 fd=3 #1 file ~/from "~/from" O_RDONLY size=8192 {"flags":"O_RDONLY","mode":"000"}
        i386 open file =4 fd=4 #2 file ~/to "~/to" O_RDWR size=0 {"flags":"O_RDWR","mode":"000"}
        i386 mmap2 memory =0x* fd=3 #1 file ~/from O_RDONLY @4096 size=8192 -/4096 {"addr":"0x0","len":4096,"prot":"PROT_READ","flags":"MAP_PRIVATE|MAP_32BIT","page_offset":1}
        i386 mmap memory =0x* fd=3 #1 file ~/from O_RDONLY @4096 size=8192 -/4096 {"addr":"0x0","len":4096,"prot":"PROT_READ","flags":"MAP_PRIVATE","off":4096}
        i386 sendfile64 file =7 fd=4 #2 file ~/to O_RDWR @0 size=7 7/7 => #1 ~/from @5 {"in_fd":3,"count":7}
        i386 sendfile file =7 fd=4 #2 file ~/to O_RDWR @7 size=14 7/7 => #1 ~/from @6 {"in_fd":3,"count":7}
        i386 copy_file_range file =8 fd=3 #1 file ~/from O_RDONLY @12 size=8192 8/8 => #2 ~/to @14 {"fd_out":4,"len":8,"flags":0}
    )"));
}

TEST_F(Compat, queues) {
    const std::string shown = rows32([&](LowMemory& memory) {
        const std::uint32_t text = memory.put_text("abcd"), name = memory.put_text("none");
        const std::array<std::uint32_t, 3> message = {1, 0x64636261, 0};
        const std::uint32_t room = memory.put(message);
        REQUIRE(call("mq_timedsend_time64", 99, text, 3, 0, 0) == -EBADF);
        REQUIRE(call("mq_timedreceive_time64", 99, text, 3, 0, 0) == -EBADF);
        REQUIRE(call("mq_open", name, O_RDONLY, 0, 0) == -ENOENT);
        const auto queue = static_cast<std::uint32_t>(call("msgget", IPC_PRIVATE, 0600));
        REQUIRE(call("msgsnd", queue, room, 4, 0) == 0);
        REQUIRE(call("msgrcv", queue, room, 4, 0, 0) == 4);
        REQUIRE(call("msgctl", queue, IPC_RMID, 0) == 0);
    });
    EXPECT_EQ(without_queue_ids(shown), lines(R"(
        i386 mq_timedsend_time64 file =EBADF fd=99 -/3 {"msg_len":3,"msg_prio":0}
        i386 mq_timedreceive_time64 file =EBADF fd=99 -/3 {"msg_len":3}
        i386 mq_open file =ENOENT {"u_name":"none","oflag":"O_RDONLY","mode":"000"}
        i386 msgget other =N {"key":0,"msgflg":384}
        i386 msgsnd pipe =0 4/4 {"msqid":N,"msgsz":4,"msgflg":0}
        i386 msgrcv pipe =4 4/4 {"msqid":N,"msgsz":4,"msgtyp":0,"msgflg":0}
        i386 msgctl other =0 {"msqid":N,"cmd":0}
    )"));
}

TEST_F(Compat, sockets) {
    const std::string shown = rows32([&](LowMemory& memory) {
        const std::uint32_t pair = memory.room(8), text = memory.put_text("abc");
        const std::array<std::uint32_t, 2> part = {text, 3};
        const std::array<std::uint32_t, 7> message = {0, 0, memory.put(part), 1, 0, 0, 0};
        REQUIRE(call("socketpair", AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
        REQUIRE(call("sendto", 3, text, 3, 0, 0, 0) == 3);
        REQUIRE(call("sendmsg", 3, memory.put(message), 0) == 3);
        REQUIRE(call("recvfrom", 4, text, 3, 0, 0, 0) == 3);
        REQUIRE(call("recvmsg", 4, memory.put(message), 0) == 3);
        REQUIRE(call("sendto", 3, text, 3, 0, 0, 0) == 3);
        REQUIRE(call("recvmmsg_time64", 4, memory.put(message), 1, 0, 0) == 1);
    });
    EXPECT_EQ(shown, lines(R"(
        i386 socketpair network =0 fd=3 #1 socket [sockfs] socket:[N] O_RDWR => #2 socket:[N] {"family":"AF_UNIX","type":"SOCK_DGRAM","protocol":0}
        i386 sendto network =3 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 3/3 {"len":3,"flags":"0","addr_len":0}
        i386 sendmsg network =3 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 3/3 {"flags":"0"}
        i386 recvfrom network =3 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 3/3 {"size":3,"flags":"0"}
        i386 recvmsg network =3 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 3/3 {"flags":"0"}
        i386 sendto network =3 fd=3 #1 socket [sockfs] socket:[N] O_RDWR 3/3 {"len":3,"flags":"0","addr_len":0}
        i386 recvmmsg_time64 network =1 fd=4 #2 socket [sockfs] socket:[N] O_RDWR {"vlen":1,"flags":"0"}
    )"));
}

TEST_F(Compat, waiting_and_children) {
    const std::string shown = rows32([&](LowMemory& memory) {
        const std::uint32_t word = memory.put(7), zeros = memory.room(64);
        REQUIRE(call("futex_time64", word, FUTEX_WAIT, 8, 0, 0, 0) == -EAGAIN);
        REQUIRE(call("futex", word, FUTEX_WAKE, 1, 0, 0, 0) == 0);
        REQUIRE(call("nanosleep", zeros, 0) == 0);
        REQUIRE(call("_newselect", 0, 0, 0, 0, zeros) == 0);
        const int child = call("fork");
        if (child == 0) {
            call("exit", 3);
        }
        REQUIRE(call("waitpid", child, 0, 0) == child);
        REQUIRE(call("waitpid", child, 0, 0) == -ECHILD);
        REQUIRE(call("getuid32") == 0);
        REQUIRE(call("idle") == -ENOSYS);
        REQUIRE(call32(511, 1) == -ENOSYS);
    });
    EXPECT_EQ(shown, lines(R"(
        i386 futex_time64 wait =EAGAIN {"uaddr":"0x*","op":"FUTEX_WAIT","val":8,"uaddr2":"0x0","val3":0}
        i386 futex wait =0 {"uaddr":"0x*","op":"FUTEX_WAKE","val":1,"utime":0,"uaddr2":"0x0","val3":0}
        i386 nanosleep wait =0
        i386 _newselect wait =0 {"n":0}
        i386 fork process =p2 target=p2
        i386 waitpid process =p2 target=p2 {"pid":p2,"options":"0"}
        i386 waitpid process =ECHILD {"pid":p2,"options":"0"}
        i386 getuid32 other =0 {"arg1":0,"arg2":0,"arg3":0,"arg4":0,"arg5":0,"arg6":0}
        i386 idle other =ENOSYS {"arg1":0,"arg2":0,"arg3":0,"arg4":0,"arg5":0,"arg6":0}
        i386 call_511 other =ENOSYS
        p2 i386 exit process unfinished {"error_code":3}
    )"));
}

// What 32-bit programs of after 2020 call: times of 64 bits.
TEST_F(Compat, waiting_with_times_of_64_bits) {
    const std::string shown = rows32([&](LowMemory& memory) {
        const std::array<std::int64_t, 2> time = {0, 1'000'000};
        const std::uint32_t short_time = memory.put(time);
        const std::array<std::uint32_t, 1> read_set = {1u << 3};
        const std::uint32_t set = memory.put(read_set);
        const std::array<pollfd, 1> polled = {{{3, POLLIN, 0}}};
        const std::uint32_t poll_set = memory.put(polled);
        const std::uint32_t ends = memory.room(8);
        REQUIRE(call("pipe", ends) == 0);
        REQUIRE(call("clock_nanosleep_time64", CLOCK_MONOTONIC, 0, short_time, 0) == 0);
        REQUIRE(call("ppoll_time64", poll_set, 1, short_time, 0, 8) == 0);
        REQUIRE(call("pselect6_time64", 4, set, 0, 0, short_time, 0) == 0);
        REQUIRE(call("io_pgetevents_time64", 0, 0, 0, 0, short_time, 0) == -EINVAL);
    });
    EXPECT_EQ(shown, lines(R"(
        i386 pipe pipe =0 fd=3 #1 pipe [pipefs] pipe:[N] O_RDONLY => #1 pipe:[N]
        i386 clock_nanosleep_time64 wait =0 {"which_clock":"CLOCK_MONOTONIC","flags":"0"}
        i386 ppoll_time64 wait =0 {"nfds":1,"sigsetsize":8}
        i386 pselect6_time64 wait =0 {"n":4}
        i386 io_pgetevents_time64 wait =EINVAL {"ctx_id":0,"min_nr":0,"nr":0}
    )"));
}

}  // namespace
}  // namespace dyetrace::test
