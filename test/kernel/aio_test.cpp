// io_submit, io_getevents: a part per control block.
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "kernel/recorded.h"

namespace dyetrace::test {
namespace {

class Aio : public KernelTest {};

iocb block(
    std::uint16_t operation, int fd, void* buffer, std::uint64_t bytes, std::int64_t offset) {
    iocb result{};
    result.aio_lio_opcode = operation;
    result.aio_fildes = static_cast<std::uint32_t>(fd);
    result.aio_buf = reinterpret_cast<std::uint64_t>(buffer);
    result.aio_nbytes = bytes;
    result.aio_offset = offset;
    return result;
}

TEST_F(Aio, a_control_block_is_a_part_of_its_submission_and_of_its_completion) {
    const std::string file = at("data");
    Shared<int> fd;
    const Trace trace = record([&] {
        aio_context_t context = 0;
        REQUIRE(syscall(SYS_io_setup, 8, &context) == 0);
        *fd = open(file.c_str(), O_CREAT | O_RDWR, 0600);
        char out[100] = {}, in[300];
        iocb first = block(IOCB_CMD_PWRITE, *fd, out, sizeof(out), 4096);
        iocb second = block(IOCB_CMD_PREAD, *fd, in, sizeof(in), 4000);
        io_event done[4];
        iocb* one = &first;
        REQUIRE(syscall(SYS_io_submit, context, 1, &one) == 1);
        REQUIRE(syscall(SYS_io_getevents, context, 1, 4, done, nullptr) == 1);
        iocb bad = block(IOCB_CMD_PREAD, 999, in, 1, 0);
        iocb* two[2] = {&second, &bad};
        REQUIRE(syscall(SYS_io_submit, context, 2, two) == 1);
        REQUIRE(syscall(SYS_io_getevents, context, 1, 4, done, nullptr) == 1);
    });
    const Event submit = trace.nth("io_submit", 0), wait = trace.nth("io_getevents", 0);
    ASSERT_EQ(submit.parts().size(), 1u);
    const Part asked = submit.parts()[0];
    EXPECT_EQ(asked.operation(), "pwrite64");
    EXPECT_EQ(asked.fd(), *fd);
    EXPECT_EQ(asked.requested(), 100);
    EXPECT_EQ(asked.file_offset(), 4096);
    EXPECT_EQ(asked.result(), std::nullopt);
    EXPECT_EQ(asked.bytes(), std::nullopt);
    EXPECT_EQ(asked.duration_ns(), std::nullopt);
    ASSERT_NE(asked.object(), nullptr);
    EXPECT_EQ(*asked.object()->name(), file);
    ASSERT_EQ(submit.touched().size(), 1u);
    EXPECT_EQ(submit.touched()[0].role, schema::EventRole::kSubmitted);
    EXPECT_EQ(submit.touched()[0].fd, *fd);
    EXPECT_EQ(submit.touched()[0].object, asked.object());

    ASSERT_EQ(wait.parts().size(), 1u);
    const Part done = wait.parts()[0];
    EXPECT_EQ(done.raw().cookie, asked.raw().cookie);
    EXPECT_EQ(done.operation(), "pwrite64");
    EXPECT_EQ(done.result(), 100);
    EXPECT_EQ(done.bytes(), 100);
    EXPECT_EQ(done.requested(), 100);
    EXPECT_EQ(done.file_offset(), 4096);
    EXPECT_EQ(done.object(), asked.object());
    EXPECT_EQ(done.raw().event_class, static_cast<std::uint8_t>(schema::Class::kFile));
    EXPECT_EQ(done.raw().start_ns, submit.raw().start_ns);
    EXPECT_EQ(done.duration_ns().value(),
              static_cast<std::int64_t>(wait.raw().start_ns + wait.raw().duration_ns -
                                        submit.raw().start_ns));

    // the second block of this call was refused: it has no part
    ASSERT_EQ(trace.nth("io_submit", 1).parts().size(), 1u);
    ASSERT_EQ(trace.nth("io_getevents", 1).parts().size(), 1u);
    const Part read = trace.nth("io_getevents", 1).parts()[0];
    EXPECT_EQ(read.operation(), "pread64");
    EXPECT_EQ(read.result(), 196);
    EXPECT_EQ(read.requested(), 300);
    EXPECT_EQ(read.file_offset(), 4000);
}

TEST_F(Aio, a_completion_that_failed_has_no_bytes) {
    const Trace trace = record([&] {
        aio_context_t context = 0;
        REQUIRE(syscall(SYS_io_setup, 8, &context) == 0);
        const int fd = open(at("x").c_str(), O_CREAT | O_RDWR, 0600);
        iocb read = block(IOCB_CMD_PREAD, fd, reinterpret_cast<void*>(8), 10, 0);
        char byte = 'x';
        REQUIRE(write(fd, &byte, 1) == 1);
        iocb* one = &read;
        io_event done[1];
        REQUIRE(syscall(SYS_io_submit, context, 1, &one) == 1);
        REQUIRE(syscall(SYS_io_pgetevents, context, 1, 1, done, nullptr, nullptr) == 1);
        REQUIRE(syscall(SYS_io_cancel, context, one, done) < 0);  // it is over
        REQUIRE(syscall(SYS_io_destroy, context) == 0);
    });
    EXPECT_EQ(trace.only("io_setup").result(), 0);
    EXPECT_EQ(trace.only("io_cancel").error(), "EINVAL");
    EXPECT_EQ(trace.only("io_destroy").result(), 0);
    ASSERT_EQ(trace.only("io_pgetevents").parts().size(), 1u);
    const Part read = trace.only("io_pgetevents").parts()[0];
    EXPECT_EQ(read.result(), -EFAULT);
    EXPECT_EQ(read.bytes(), std::nullopt);
}

// What a ring carries is not seen, as coverage says; who makes one and who enters one is. Also where making one is forbidden.
TEST_F(Aio, who_makes_a_ring_is_seen) {
    Shared<long> made;
    const Trace trace = record([&] {
        io_uring_params params{};
        *made = syscall(SYS_io_uring_setup, 4, &params);
        *made = *made < 0 ? -errno : *made;
    });
    EXPECT_EQ(trace.only("io_uring_setup").result(), *made);
}

TEST_F(Aio, what_is_no_ring_cannot_be_entered) {
    Shared<int> fd;
    const Trace trace = record([&] {
        *fd = open("/dev/null", O_RDONLY);
        REQUIRE(syscall(SYS_io_uring_enter, *fd, 1, 1, IORING_ENTER_GETEVENTS, nullptr, 0) < 0);
    });
    const Event enter = trace.only("io_uring_enter");
    EXPECT_EQ(enter.fd(), *fd);
    EXPECT_EQ(enter.error(), "EOPNOTSUPP");
    ASSERT_NE(enter.object(), nullptr);
    EXPECT_EQ(*enter.object()->name(), "/dev/null");
}

}  // namespace
}  // namespace dyetrace::test
