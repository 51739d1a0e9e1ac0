// fcntl: which bytes of a file were locked or let go of; ioctl: which it changed.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "kernel/compat.h"
#include "kernel/old_calls.h"
#include "kernel/rows.h"

namespace dyetrace::test {
namespace {

using schema::EventRole;

class Locks : public RowsTest {};

int lock(int fd, int command, int type, int whence, off_t start, off_t length) {
    struct flock range {};
    range.l_type = static_cast<short>(type);
    range.l_whence = static_cast<short>(whence);
    range.l_start = start;
    range.l_len = length;
    return fcntl(fd, command, &range);
}

// The only object that it touched.
void expect_lock(const Event& event, EventRole role, std::int64_t begin, std::int64_t end) {
    ASSERT_EQ(event.touched().size(), 1u);
    const Touched touched = event.touched()[0];
    EXPECT_EQ(touched.role, role);
    EXPECT_EQ(touched.fd, event.fd());
    EXPECT_EQ(touched.range_begin, begin);
    EXPECT_EQ(touched.range_end, end);
    ASSERT_NE(touched.object, nullptr);
    EXPECT_EQ(touched.object->object_id, event.object_id());
}

// FS_IOC_UNRESVSP64 punches a hole: begin, length.
int punch(int fd, int whence, std::int64_t start, std::int64_t length) {
    const struct {
        std::int16_t type, whence;
        std::int32_t padding;
        std::int64_t start, length;
        std::int32_t rest[6];
    } space{0, static_cast<std::int16_t>(whence), 0, start, length, {}};
    return ioctl(fd, 0x4030582b, &space);
}

TEST_F(Locks, are_told_as_what_an_ioctl_changes_is) {
    const std::string file = make_file("data", std::string(16384, 'x'));
    const Trace trace = record([&] {
        const int fd = open(file.c_str(), O_RDWR);
        REQUIRE(punch(fd, SEEK_SET, 4096, 8192) == 0);
        REQUIRE(lseek(fd, 100, SEEK_SET) == 100);
        REQUIRE(punch(fd, SEEK_CUR, 50, 10) == 0);
        REQUIRE(punch(fd, SEEK_END, -20, 10) == 0);
        REQUIRE(punch(fd, SEEK_SET, 0, -1) < 0);
        int bytes = 0;
        REQUIRE(ioctl(fd, FIONREAD, &bytes) == 0);
    });
    expect_lock(trace.nth("ioctl", 0), EventRole::kChanged, 4096, 12288);
    expect_lock(trace.nth("ioctl", 1), EventRole::kChanged, 150, 160);
    expect_lock(trace.nth("ioctl", 2), EventRole::kChanged, 16364, 16374);
    for (const std::size_t other : {3u, 4u}) {
        EXPECT_TRUE(trace.nth("ioctl", other).touched().empty());
    }
}

TEST_F(Locks, say_which_bytes_they_are_of) {
    const std::string file = make_file("data", std::string(100, 'x'));
    const Trace trace = record([&] {
        const int fd = open(file.c_str(), O_RDWR);
        REQUIRE(lseek(fd, 30, SEEK_SET) == 30);
        REQUIRE(lock(fd, F_SETLK, F_WRLCK, SEEK_SET, 10, 20) == 0);
        REQUIRE(lock(fd, F_SETLKW, F_RDLCK, SEEK_CUR, 5, 0) == 0);
        REQUIRE(lock(fd, F_OFD_SETLK, F_RDLCK, SEEK_END, -10, 3) == 0);
        REQUIRE(lock(fd, F_SETLK, F_WRLCK, SEEK_CUR, 0, -4) == 0);
        REQUIRE(lock(fd, F_SETLK, F_UNLCK, SEEK_SET, 0, 0) == 0);
        REQUIRE(lock(fd, F_OFD_SETLKW, F_UNLCK, SEEK_SET, 5'000'000'000, 1) == 0);
        REQUIRE(lock(fd, F_GETLK, F_WRLCK, SEEK_SET, 0, 1) == 0);
        REQUIRE(lock(fd, F_SETLK, F_WRLCK, SEEK_SET, -1, 1) < 0);
        REQUIRE(syscall(SYS_fcntl, fd, F_SETLK, 8) < 0);
        REQUIRE(fcntl(fd, F_GETFD) == 0);
    });
    expect_lock(trace.nth("fcntl", 0), EventRole::kWriteLocked, 10, 30);
    expect_lock(trace.nth("fcntl", 1), EventRole::kReadLocked, 35, -1);
    expect_lock(trace.nth("fcntl", 2), EventRole::kReadLocked, 90, 93);
    expect_lock(trace.nth("fcntl", 3), EventRole::kWriteLocked, 26, 30);
    expect_lock(trace.nth("fcntl", 4), EventRole::kUnlocked, 0, -1);
    expect_lock(trace.nth("fcntl", 5), EventRole::kUnlocked, 5'000'000'000, 5'000'000'001);
    for (const std::size_t none : {6u, 7u, 8u, 9u}) {
        EXPECT_TRUE(trace.nth("fcntl", none).touched().empty()) << none;
    }
}

TEST_F(Locks, of_32_bit_programs_have_other_structures) {
    NEEDS_OLD_CALLS();
    const std::string file = make_file("data", std::string(100, 'x'));
    const Trace trace = record([&] {
        LowMemory memory;
        REQUIRE(open(file.c_str(), O_RDWR) == 3);
        REQUIRE(lseek(3, 7, SEEK_SET) == 7);
        // type and whence, start, length, pid
        const std::uint32_t narrow =
            memory.put(std::array<std::int32_t, 4>{F_WRLCK | SEEK_CUR << 16, 3, 20, 0});
        const std::uint32_t wide = memory.put(std::array<std::int32_t, 6>{F_RDLCK, 5, 1, 10, 0, 0});
        constexpr std::uint32_t kSetLock64 = 13;
        REQUIRE(call32(number_of("fcntl"), 3, F_SETLK, narrow) == 0);
        REQUIRE(call32(number_of("fcntl64"), 3, F_SETLKW, narrow) == 0);
        REQUIRE(call32(number_of("fcntl64"), 3, kSetLock64, wide) == 0);
        REQUIRE(call32(number_of("fcntl64"), 3, F_OFD_SETLK, wide) == 0);
    });
    expect_lock(trace.only("fcntl"), EventRole::kWriteLocked, 10, 30);
    expect_lock(trace.nth("fcntl64", 0), EventRole::kWriteLocked, 10, 30);
    for (const std::size_t with_wide : {1u, 2u}) {
        expect_lock(trace.nth("fcntl64", with_wide),
                    EventRole::kReadLocked,
                    (1LL << 32) + 5,
                    (1LL << 32) + 15);
    }
}

}  // namespace
}  // namespace dyetrace::test
