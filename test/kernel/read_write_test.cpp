// read, write, pread64, pwrite64, readv, writev, preadv, pwritev, preadv2, pwritev2, lseek.
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "kernel/old_calls.h"
#include "kernel/rows.h"

namespace dyetrace::test {
namespace {

class ReadWrite : public RowsTest {};

TEST_F(ReadWrite, a_call_tells_its_range) {
    NEEDS_OLD_CALLS();
    const std::string file = make_file("data", "0123456789");
    const std::string shown = rows([&] {
        char a[4], b[4];
        iovec parts[] = {{a, 2}, {b, 3}};
        REQUIRE(open(file.c_str(), O_RDWR) == 3);
        REQUIRE(read(3, a, 4) == 4);
        REQUIRE(write(3, "ab", 2) == 2);
        REQUIRE(pread(3, a, 3, 7) == 3);
        REQUIRE(pwrite(3, "xyz", 3, 20) == 3);
        REQUIRE(lseek(3, 1, SEEK_SET) == 1);
        REQUIRE(readv(3, parts, 2) == 5);
        REQUIRE(writev(3, parts, 2) == 5);
        REQUIRE(preadv(3, parts, 2, 6) == 5);
        REQUIRE(pwritev(3, parts, 2, 1L << 33) == 5);
        REQUIRE(lseek(3, -2, SEEK_CUR) == 9);
        REQUIRE(preadv2(3, parts, 2, -1, 0) == 5);
        REQUIRE(pwritev2(3, parts, 2, 0, 0) == 5);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/data "~/data" O_RDWR size=10 {"dfd":"AT_FDCWD","flags":"O_RDWR","mode":"000"}
        read file =4 fd=3 #1 file ~/data O_RDWR @0 size=10 4/4 {"count":4}
        write file =2 fd=3 #1 file ~/data O_RDWR @4 size=10 2/2 {"count":2}
        pread64 file =3 fd=3 #1 file ~/data O_RDWR @7 size=10 3/3 {"count":3,"pos":7}
        pwrite64 file =3 fd=3 #1 file ~/data O_RDWR @20 size=23 3/3 {"count":3,"pos":20}
        lseek file =1 fd=3 #1 file ~/data O_RDWR size=23 {"offset":1,"whence":"SEEK_SET"}
        readv file =5 fd=3 #1 file ~/data O_RDWR @1 size=23 5/5 {"vlen":2}
        writev file =5 fd=3 #1 file ~/data O_RDWR @6 size=23 5/5 {"vlen":2}
        preadv file =5 fd=3 #1 file ~/data O_RDWR @6 size=23 5/5 {"vlen":2,"pos_low":6,"pos_high":0}
        pwritev file =5 fd=3 #1 file ~/data O_RDWR @8589934592 size=8589934597 5/5 {"vlen":2,"pos_low":8589934592,"pos_high":0}
        lseek file =9 fd=3 #1 file ~/data O_RDWR size=8589934597 {"offset":-2,"whence":"SEEK_CUR"}
        preadv2 file =5 fd=3 #1 file ~/data O_RDWR @9 size=8589934597 5/5 {"vlen":2,"pos_low":-1,"pos_high":0,"flags":"0"}
        pwritev2 file =5 fd=3 #1 file ~/data O_RDWR @0 size=8589934597 5/5 {"vlen":2,"pos_low":0,"pos_high":0,"flags":"0"}
    )"));
}

TEST_F(ReadWrite, what_is_appended_begins_at_the_end) {
    const std::string file = make_file("log", "12345");
    const std::string shown = rows([&] {
        iovec part = {const_cast<char*>("abc"), 3};
        REQUIRE(open(file.c_str(), O_WRONLY | O_APPEND) == 3);
        REQUIRE(write(3, "ab", 2) == 2);
        REQUIRE(pwrite(3, "xyz", 3, 1) == 3);
        REQUIRE(open(file.c_str(), O_WRONLY) == 4);
        REQUIRE(pwritev2(4, &part, 1, 0, RWF_APPEND) == 3);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/log "~/log" O_WRONLY|O_APPEND size=5 {"dfd":"AT_FDCWD","flags":"O_WRONLY|O_APPEND","mode":"000"}
        write file =2 fd=3 #1 file ~/log O_WRONLY|O_APPEND @5 size=7 2/2 {"count":2}
        pwrite64 file =3 fd=3 #1 file ~/log O_WRONLY|O_APPEND size=10 3/3 {"count":3,"pos":1}
        openat file =4 fd=4 #1 file ~/log "~/log" O_WRONLY size=10 {"dfd":"AT_FDCWD","flags":"O_WRONLY","mode":"000"}
        pwritev2 file =3 fd=4 #1 file ~/log O_WRONLY size=13 3/3 {"vlen":1,"pos_low":0,"pos_high":0,"flags":"RWF_APPEND"}
    )"));
}

TEST_F(ReadWrite, less_than_asked_and_nothing_at_the_end) {
    const std::string file = make_file("short", "123");
    const std::string shown = rows([&] {
        char buffer[8];
        REQUIRE(open(file.c_str(), O_RDONLY) == 3);
        REQUIRE(read(3, buffer, 8) == 3);
        REQUIRE(read(3, buffer, 8) == 0);
        REQUIRE(read(3, buffer, 0) == 0);
        REQUIRE(pread(3, buffer, 8, 100) == 0);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/short "~/short" O_RDONLY size=3 {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
        read file =3 fd=3 #1 file ~/short O_RDONLY @0 size=3 3/8 {"count":8}
        read file =0 fd=3 #1 file ~/short O_RDONLY @3 size=3 0/8 {"count":8}
        read file =0 fd=3 #1 file ~/short O_RDONLY @3 size=3 0/0 {"count":0}
        pread64 file =0 fd=3 #1 file ~/short O_RDONLY @100 size=3 0/8 {"count":8,"pos":100}
    )"));
}

TEST_F(ReadWrite, a_failed_call_moves_nothing) {
    const std::string file = make_file("data", "123");
    const std::string shown = rows([&] {
        char buffer[8] = {};
        iovec part = {buffer, 8};
        REQUIRE(open(file.c_str(), O_RDONLY) == 3);
        REQUIRE(write(3, buffer, 8) < 0);
        REQUIRE(pwrite(3, buffer, 8, 2) < 0);
        REQUIRE(syscall(SYS_read, 3, nullptr, 8) < 0);
        REQUIRE(read(77, buffer, 8) < 0);
        REQUIRE(syscall(SYS_readv, 3, &part, -1) < 0);
        REQUIRE(pread(3, buffer, 8, -1) < 0);
        REQUIRE(lseek(3, -1, SEEK_SET) < 0);
        REQUIRE(read(-1, buffer, 8) < 0);
        REQUIRE(open(file.c_str(), O_PATH) == 4);
        REQUIRE(read(4, buffer, 8) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/data "~/data" O_RDONLY size=3 {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
        write file =EBADF fd=3 #1 file ~/data O_RDONLY @0 size=3 -/8 {"count":8}
        pwrite64 file =EBADF fd=3 #1 file ~/data O_RDONLY @2 size=3 -/8 {"count":8,"pos":2}
        read file =EFAULT fd=3 #1 file ~/data O_RDONLY @0 size=3 -/8 {"count":8}
        read file =EBADF fd=77 -/8 {"count":8}
        readv file =EINVAL fd=3 #1 file ~/data O_RDONLY @0 size=3 {"vlen":4294967295}
        pread64 file =EINVAL fd=3 #1 file ~/data O_RDONLY @-1 size=3 -/8 {"count":8,"pos":-1}
        lseek file =EINVAL fd=3 #1 file ~/data O_RDONLY size=3 {"offset":-1,"whence":"SEEK_SET"}
        read file =EBADF fd=-1 -/8 {"count":8}
        openat file =4 fd=4 #1 file ~/data "~/data" O_RDONLY|O_PATH size=3 {"dfd":"AT_FDCWD","flags":"O_RDONLY|O_PATH","mode":"000"}
        read file =EBADF fd=4 #1 file ~/data O_RDONLY|O_PATH @0 size=3 -/8 {"count":8}
    )"));
}

TEST_F(ReadWrite, what_has_no_position_has_no_offset) {
    const std::string shown = rows([&] {
        char buffer[8];
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        REQUIRE(write(4, "abc", 3) == 3);
        REQUIRE(read(3, buffer, 8) == 3);
        REQUIRE(lseek(3, 0, SEEK_SET) < 0);
        REQUIRE(pread(3, buffer, 8, 0) < 0);
        REQUIRE(open("/dev/null", O_RDWR) == 5);
        REQUIRE(write(5, "abc", 3) == 3);
        REQUIRE(read(5, buffer, 8) == 0);
        REQUIRE(open("/proc/self/comm", O_RDONLY) == 6);
        REQUIRE(read(6, buffer, 6) == 6);
        REQUIRE(open(at("").c_str(), O_RDONLY) == 7);
        REQUIRE(read(7, buffer, 8) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        pipe2 pipe =0 fd=3 #1 pipe [pipefs] pipe:[N] O_RDONLY => #1 pipe:[N] {"flags":"0"}
        write pipe =3 fd=4 #1 pipe [pipefs] pipe:[N] O_WRONLY 3/3 {"count":3}
        read pipe =3 fd=3 #1 pipe [pipefs] pipe:[N] O_RDONLY 3/8 {"count":8}
        lseek pipe =ESPIPE fd=3 #1 pipe [pipefs] pipe:[N] O_RDONLY {"offset":0,"whence":"SEEK_SET"}
        pread64 pipe =ESPIPE fd=3 #1 pipe [pipefs] pipe:[N] O_RDONLY -/8 {"count":8,"pos":0}
        openat file =5 fd=5 #2 character_device [devtmpfs] /dev/null "/dev/null" O_RDWR {"dfd":"AT_FDCWD","flags":"O_RDWR","mode":"000"}
        write file =3 fd=5 #2 character_device [devtmpfs] /dev/null O_RDWR 3/3 {"count":3}
        read file =0 fd=5 #2 character_device [devtmpfs] /dev/null O_RDWR 0/8 {"count":8}
        openat file =6 fd=6 #3 file [proc] /proc/p1/comm "/proc/self/comm" O_RDONLY size=0 {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
        read file =6 fd=6 #3 file [proc] /proc/p1/comm O_RDONLY @0 size=0 6/6 {"count":6}
        openat file =7 fd=7 #4 directory ~ "~/" O_RDONLY {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
        read file =EISDIR fd=7 #4 directory ~ O_RDONLY -/8 {"count":8}
    )"));
}

TEST_F(ReadWrite, an_iovec_of_1024_parts_is_one_range) {
    const std::string file = make_file("parts", "");
    const std::string shown = rows([&] {
        static char bytes[1024];
        static iovec parts[1025];
        for (int i = 0; i < 1024; ++i) {
            parts[i] = {bytes + i, 1};
        }
        REQUIRE(open(file.c_str(), O_RDWR) == 3);
        REQUIRE(writev(3, parts, 1024) == 1024);
        REQUIRE(preadv(3, parts, 1024, 1000) == 24);
        REQUIRE(writev(3, parts, 1025) < 0);
        REQUIRE(writev(3, parts, 0) == 0);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/parts "~/parts" O_RDWR size=0 {"dfd":"AT_FDCWD","flags":"O_RDWR","mode":"000"}
        writev file =1024 fd=3 #1 file ~/parts O_RDWR @0 size=1024 1024/1024 {"vlen":1024}
        preadv file =24 fd=3 #1 file ~/parts O_RDWR @1000 size=1024 24/1024 {"vlen":1024,"pos_low":1000,"pos_high":0}
        writev file =EINVAL fd=3 #1 file ~/parts O_RDWR @1024 size=1024 {"vlen":1025}
        writev file =0 fd=3 #1 file ~/parts O_RDWR @1024 size=1024 0/0 {"vlen":0}
    )"));
}

}  // namespace
}  // namespace dyetrace::test
