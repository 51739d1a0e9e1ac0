// open, openat, openat2, open_by_handle_at, creat, close, close_range.
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/old_calls.h"
#include "kernel/recorded.h"

namespace dyetrace::test {
namespace {

class OpenClose : public KernelTest {};

TEST_F(OpenClose, open_makes_a_descriptor_and_names_its_object) {
    NEEDS_OLD_CALLS();
    const std::string file = at("new");
    Shared<int> fd;
    const Trace trace = record([&] {
        *fd = static_cast<int>(syscall(SYS_open, file.c_str(), O_CREAT | O_RDWR | O_APPEND, 0640));
        REQUIRE(*fd >= 0);
    });
    struct stat status {};
    ASSERT_EQ(stat(file.c_str(), &status), 0);
    const Event open = trace.only("open");
    EXPECT_TRUE(open.finished());
    EXPECT_EQ(open.result(), *fd);
    EXPECT_EQ(open.fd(), *fd);
    EXPECT_EQ(open.error(), "");
    EXPECT_EQ(open.event_class(), schema::Class::kFile);
    EXPECT_EQ(open.path(), file);
    EXPECT_EQ(open.argument_path(), file);
    EXPECT_EQ(open.open_flags().value() & (O_RDWR | O_APPEND), O_RDWR | O_APPEND);
    EXPECT_EQ(open.object_size(), 0);
    ASSERT_NE(open.object(), nullptr);
    EXPECT_EQ(open.object()->inode, status.st_ino);
    EXPECT_EQ(open.object()->mode, S_IFREG | (0640u & ~022u));
    EXPECT_EQ(open.object()->object_type, schema::ObjectType::kFile);
    EXPECT_FALSE(open.object()->file_system.empty());
    EXPECT_EQ(open.file_offset(), std::nullopt);
    EXPECT_EQ(open.bytes(), std::nullopt);
    EXPECT_GT(open.duration_ns().value(), 0);
    EXPECT_LT(open.duration_ns().value(), 1'000'000'000);
    ASSERT_NE(open.task(), nullptr);
    EXPECT_EQ(open.task()->comm, "kernel_test");
}

TEST_F(OpenClose, open_by_handle_at_names_the_object_that_it_may_have_emptied) {
    const std::string file = at("data");
    const Trace trace = record([&] {
        REQUIRE(write(creat(file.c_str(), 0600), "content", 7) == 7);
        struct {
            file_handle head;
            char room[MAX_HANDLE_SZ];
        } handle{};
        handle.head.handle_bytes = MAX_HANDLE_SZ;
        int mount = 0;
        REQUIRE(name_to_handle_at(AT_FDCWD, file.c_str(), &handle.head, &mount, 0) == 0);
        const int folder = open(at("").c_str(), O_RDONLY);
        REQUIRE(open_by_handle_at(folder, &handle.head, O_RDWR | O_TRUNC) > folder);
        REQUIRE(open_by_handle_at(folder, nullptr, O_RDONLY) < 0);
    });
    const Event named = trace.only("name_to_handle_at");
    EXPECT_EQ(named.path(), file);
    EXPECT_EQ(named.result(), 0);
    const Event opened = trace.nth("open_by_handle_at", 0);
    EXPECT_EQ(opened.event_class(), schema::Class::kFile);
    EXPECT_EQ(opened.path(), file);
    EXPECT_EQ(opened.fd(), opened.result());
    EXPECT_EQ(opened.object_size(), 0);
    EXPECT_EQ(opened.open_flags().value() & O_ACCMODE, O_RDWR);
    ASSERT_NE(opened.object(), nullptr);
    EXPECT_EQ(opened.object()->object_type, schema::ObjectType::kFile);
    EXPECT_EQ(trace.nth("open_by_handle_at", 1).error(), "EFAULT");
    EXPECT_EQ(trace.nth("open_by_handle_at", 1).object(), nullptr);
}

TEST_F(OpenClose, a_failed_open_has_its_argument_and_an_error) {
    const std::string file = at("none");
    const Trace trace = record([&] { REQUIRE(open(file.c_str(), O_RDONLY) < 0); });
    const Event open = trace.only("openat");
    EXPECT_EQ(open.error(), "ENOENT");
    EXPECT_EQ(open.fd(), std::nullopt);
    EXPECT_EQ(open.object(), nullptr);
    EXPECT_EQ(open.argument_path(), file);
    EXPECT_EQ(open.path(), file);
}

TEST_F(OpenClose, a_relative_name_starts_from_the_working_directory_or_the_descriptor) {
    const std::string folder = at("folder");
    ASSERT_EQ(mkdir(folder.c_str(), 0755), 0);
    const Trace trace = record([&] {
        const int directory = open(folder.c_str(), O_DIRECTORY);
        REQUIRE(openat(directory, "missing", O_RDONLY) < 0);
        REQUIRE(openat(directory, "made", O_CREAT | O_WRONLY, 0600) >= 0);
        REQUIRE(chdir(folder.c_str()) == 0);
        REQUIRE(open("absent", O_RDONLY) < 0);
        REQUIRE(open("made", O_RDONLY) >= 0);
    });
    const Event missing = trace.nth("openat", 1);
    EXPECT_EQ(missing.argument_path(), "missing");
    EXPECT_EQ(missing.path(), folder + "/missing");
    EXPECT_EQ(missing.object(), nullptr);
    const Event made = trace.nth("openat", 2);
    EXPECT_EQ(made.path(), folder + "/made");
    EXPECT_EQ(trace.nth("openat", 3).path(), folder + "/absent");
    const Event again = trace.nth("openat", 4);
    EXPECT_EQ(again.argument_path(), "made");
    EXPECT_EQ(again.path(), folder + "/made");
    EXPECT_EQ(again.object_id(), made.object_id());
    EXPECT_EQ(trace.only("chdir").argument_path(), folder);
}

TEST_F(OpenClose, creat_and_openat2_make_descriptors) {
    NEEDS_OLD_CALLS();
    const std::string file = at("made");
    const Trace trace = record([&] {
        REQUIRE(syscall(SYS_creat, file.c_str(), 0600) >= 0);
        open_how how{};
        how.flags = O_RDONLY;
        REQUIRE(syscall(SYS_openat2, AT_FDCWD, file.c_str(), &how, sizeof(how)) >= 0);
        how.flags = ~0ull;
        REQUIRE(syscall(SYS_openat2, AT_FDCWD, file.c_str(), &how, sizeof(how)) < 0);
    });
    const Event creat = trace.only("creat");
    EXPECT_EQ(creat.fd(), creat.result());
    EXPECT_EQ(creat.path(), file);
    EXPECT_EQ(creat.open_flags().value() & O_ACCMODE, O_WRONLY);
    const Event opened = trace.nth("openat2", 0);
    EXPECT_EQ(opened.object_id(), creat.object_id());
    EXPECT_EQ(opened.path(), file);
    EXPECT_EQ(trace.nth("openat2", 1).error(), "EINVAL");
}

TEST_F(OpenClose, close_knows_what_it_closed) {
    const std::string file = at("closed");
    Shared<int> fd;
    const Trace trace = record([&] {
        *fd = open(file.c_str(), O_CREAT | O_WRONLY, 0600);
        REQUIRE(close(*fd) == 0);
        REQUIRE(close(*fd) < 0);
    });
    const Event closed = trace.nth("close", 0);
    EXPECT_EQ(closed.fd(), *fd);
    EXPECT_EQ(closed.result(), 0);
    EXPECT_EQ(closed.path(), file);
    EXPECT_EQ(closed.object_id(), trace.only("openat").object_id());
    EXPECT_EQ(closed.open_flags().value() & O_ACCMODE, O_WRONLY);
    EXPECT_EQ(closed.event_class(), schema::Class::kFile);
    const Event twice = trace.nth("close", 1);
    EXPECT_EQ(twice.error(), "EBADF");
    EXPECT_EQ(twice.fd(), *fd);
    EXPECT_EQ(twice.object(), nullptr);
}

}  // namespace
}  // namespace dyetrace::test
