// Names under another root: chroot, and what absolute paths then start from.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/recorded.h"

namespace dyetrace::test {
namespace {

class Roots : public KernelTest {};

TEST_F(Roots, paths_in_a_chroot_are_seen_from_the_root_of_the_namespace) {
    const std::string root = at("root");
    ASSERT_EQ(mkdir(root.c_str(), 0755), 0);
    const Trace trace = record([&] {
        REQUIRE(chroot(root.c_str()) == 0);
        REQUIRE(open("/missing", O_RDONLY) < 0);
        REQUIRE(open("/made", O_CREAT | O_RDWR, 0600) >= 0);
        REQUIRE(rename("/made", "/moved") == 0);
        REQUIRE(chdir("/") == 0);
        REQUIRE(unlink("moved") == 0);
        REQUIRE(access("/", F_OK) == 0);
    });
    EXPECT_EQ(trace.only("chroot").argument_path(), root);
    EXPECT_EQ(trace.only("chroot").path(), root);
    const Event missing = trace.nth("openat", 0);
    EXPECT_EQ(missing.argument_path(), "/missing");
    EXPECT_EQ(missing.path(), root + "/missing");
    EXPECT_EQ(missing.object(), nullptr);
    EXPECT_EQ(trace.nth("openat", 1).path(), root + "/made");
    EXPECT_EQ(trace.only("rename").path(), root + "/made");
    EXPECT_EQ(trace.only("rename").path2(), root + "/moved");
    EXPECT_EQ(trace.only("chdir").path(), root);
    EXPECT_EQ(trace.only("unlink").path(), root + "/moved");
    EXPECT_EQ(trace.only("access").argument_path(), "/");
}

TEST_F(Roots, outside_of_a_chroot_an_absolute_path_needs_no_base) {
    const std::string root = at("root");
    ASSERT_EQ(mkdir(root.c_str(), 0755), 0);
    const Trace trace = record([&] {
        REQUIRE(access("/none", F_OK) < 0);
        REQUIRE(chroot(root.c_str()) == 0);
        REQUIRE(access("/none", F_OK) < 0);
    });
    EXPECT_EQ(trace.nth("access", 0).path(), "/none");
    EXPECT_EQ(trace.nth("access", 0).raw().present & schema::SyscallEvent::kHasHandle, 0u);
    EXPECT_EQ(trace.nth("access", 1).path(), root + "/none");
}

}  // namespace
}  // namespace dyetrace::test
