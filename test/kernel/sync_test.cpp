// fsync, fdatasync, sync, syncfs, sync_file_range; truncate, ftruncate, fallocate; readahead, fadvise64.
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/rows.h"

namespace dyetrace::test {
namespace {

class Sync : public RowsTest {};

TEST_F(Sync, what_is_made_durable) {
    const std::string file = make_file("data", "0123456789");
    const std::string shown = rows([&] {
        REQUIRE(open(file.c_str(), O_RDWR) == 3);
        REQUIRE(fsync(3) == 0);
        REQUIRE(fdatasync(3) == 0);
        REQUIRE(sync_file_range(3, 2, 5, SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER) == 0);
        REQUIRE(syncfs(3) == 0);
        REQUIRE(fsync(99) < 0);
        REQUIRE(syscall(SYS_fdatasync, -1) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/data "~/data" O_RDWR size=10 {"dfd":"AT_FDCWD","flags":"O_RDWR","mode":"000"}
        fsync file =0 fd=3 #1 file ~/data O_RDWR size=10
        fdatasync file =0 fd=3 #1 file ~/data O_RDWR size=10
        sync_file_range file =0 fd=3 #1 file ~/data O_RDWR @2 size=10 -/5 {"offset":2,"nbytes":5,"flags":"SYNC_FILE_RANGE_WRITE|SYNC_FILE_RANGE_WAIT_AFTER"}
        syncfs file =0 fd=3 #1 file ~/data O_RDWR size=10
        fsync file =EBADF fd=99
        fdatasync file =EBADF fd=-1
    )"));
}

TEST_F(Sync, sync_is_about_no_object) {
    const std::string shown = rows([&] { sync(); });
    EXPECT_EQ(shown, lines(R"(
        sync file =0
    )"));
}

TEST_F(Sync, what_changes_the_size) {
    const std::string file = make_file("data", "0123456789");
    const std::string shown = rows([&] {
        REQUIRE(truncate(file.c_str(), 7) == 0);
        REQUIRE(truncate((file + "x").c_str(), 7) < 0);
        REQUIRE(open(file.c_str(), O_RDWR) == 3);
        REQUIRE(ftruncate(3, 5) == 0);
        REQUIRE(ftruncate(3, 1L << 33) == 0);
        REQUIRE(fallocate(3, FALLOC_FL_KEEP_SIZE, 4096, 8192) == 0);
        REQUIRE(fallocate(3, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0);
        REQUIRE(ftruncate(3, 100) == 0);
        REQUIRE(fallocate(3, 0, 50, 100) == 0);
        REQUIRE(fallocate(3, 0, 0, 0) < 0);
        REQUIRE(ftruncate(3, -1) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        truncate file =0 #1 file ~/data "~/data" {"length":7}
        truncate file =ENOENT ~/datax "~/datax" {"length":7}
        openat file =3 fd=3 #1 file ~/data "~/data" O_RDWR size=7 {"dfd":"AT_FDCWD","flags":"O_RDWR","mode":"000"}
        ftruncate file =0 fd=3 #1 file ~/data O_RDWR size=5 {"length":5}
        ftruncate file =0 fd=3 #1 file ~/data O_RDWR size=8589934592 {"length":8589934592}
        fallocate file =0 fd=3 #1 file ~/data O_RDWR @4096 size=8589934592 -/8192 {"mode":"FALLOC_FL_KEEP_SIZE","offset":4096,"len":8192}
        fallocate file =0 fd=3 #1 file ~/data O_RDWR @0 size=8589934592 -/4096 {"mode":"FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE","offset":0,"len":4096}
        ftruncate file =0 fd=3 #1 file ~/data O_RDWR size=100 {"length":100}
        fallocate file =0 fd=3 #1 file ~/data O_RDWR @50 size=150 -/100 {"mode":"0","offset":50,"len":100}
        fallocate file =EINVAL fd=3 #1 file ~/data O_RDWR @0 size=150 -/0 {"mode":"0","offset":0,"len":0}
        ftruncate file =EINVAL fd=3 #1 file ~/data O_RDWR size=150 {"length":-1}
    )"));
}

TEST_F(Sync, what_is_said_about_reading) {
    const std::string file = make_file("data", "0123456789");
    const std::string shown = rows([&] {
        REQUIRE(open(file.c_str(), O_RDONLY) == 3);
        REQUIRE(posix_fadvise(3, 2, 4, POSIX_FADV_WILLNEED) == 0);
        REQUIRE(readahead(3, 1, 8) == 0);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/data "~/data" O_RDONLY size=10 {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
        fadvise64 file =0 fd=3 #1 file ~/data O_RDONLY @2 size=10 -/4 {"offset":2,"len":4,"advice":"POSIX_FADV_WILLNEED"}
        readahead file =0 fd=3 #1 file ~/data O_RDONLY @1 size=10 -/8 {"offset":1,"count":8}
    )"));
}

}  // namespace
}  // namespace dyetrace::test
