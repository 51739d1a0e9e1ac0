// Files of one file system that have the same inode number, since they are on devices of their own: subvolumes, layers.
#include <fcntl.h>
#include <linux/btrfs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "kernel/mounted_image.h"
#include "kernel/recorded.h"

namespace dyetrace::test {
namespace {

class Device : public KernelTest {
  protected:
    // As stat() says it, in the kernel's numbers.
    static std::uint32_t device_of(const std::string& path) {
        struct stat about {};
        EXPECT_EQ(stat(path.c_str(), &about), 0) << path;
        return major(about.st_dev) << 20 | minor(about.st_dev);
    }
    static ino_t inode_of(const std::string& path) {
        struct stat about {};
        EXPECT_EQ(stat(path.c_str(), &about), 0) << path;
        return about.st_ino;
    }
    static bool make(const std::string& path) {
        const int file = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
        return file >= 0 && write(file, "123", 3) == 3 && close(file) == 0;
    }
    // Where inodes are forgotten, they are read again.
    static void forget_inodes() {
        std::FILE* caches = std::fopen("/proc/sys/vm/drop_caches", "we");
        REQUIRE(caches != nullptr && std::fputs("2", caches) > 0 && std::fclose(caches) == 0);
    }
    // a and b have one number on two layers; a stays what it is when it is copied up.
    void expect_files_apart(const std::string& merged) {
        const std::string a = merged + "/a", b = merged + "/b";
        ASSERT_EQ(inode_of(a), inode_of(b));
        const std::uint32_t device = device_of(a);
        const Trace trace = record([&] {
            REQUIRE(close(open(b.c_str(), O_RDONLY)) == 0);
            REQUIRE(close(open(a.c_str(), O_RDONLY)) == 0);
            forget_inodes();
            REQUIRE(access(a.c_str(), F_OK) == 0);
            REQUIRE(close(open(a.c_str(), O_WRONLY)) == 0);
            REQUIRE(truncate(a.c_str(), 1) == 0);
        });
        const Event other = trace.nth("openat", 0), before = trace.nth("openat", 1);
        EXPECT_NE(other.object_id(), before.object_id());
        EXPECT_EQ(other.object()->device, device_of(b));
        EXPECT_EQ(before.object()->device, device);
        EXPECT_EQ(trace.only("access").object_id(), before.object_id());
        EXPECT_EQ(trace.only("truncate").object_id(), before.object_id());
    }
};

TEST_F(Device, of_a_subvolume_is_its_own) {
    const MountedImage image("btrfs", at("image"), at("btrfs"));
    if (!image) {
        GTEST_SKIP() << "no btrfs here";
    }
    const int root = open(image.folder().c_str(), O_RDONLY | O_CLOEXEC);
    for (const std::string name : {"a", "b", "snapshot"}) {
        btrfs_ioctl_vol_args made{};
        name.copy(made.name, sizeof(made.name) - 1);
        made.fd = open((image.folder() + "/a").c_str(), O_RDONLY | O_CLOEXEC);
        const auto request = name == "snapshot" ? BTRFS_IOC_SNAP_CREATE : BTRFS_IOC_SUBVOL_CREATE;
        ASSERT_EQ(ioctl(root, request, &made), 0);
        close(static_cast<int>(made.fd));
        if (name != "snapshot") {
            ASSERT_TRUE(make(image.folder() + "/" + name + "/data"));
            sync();  // or the snapshot has it not
        }
    }
    close(root);
    const std::string first = image.folder() + "/a/data";
    const Trace trace = record([&] {
        for (const std::string name : {"a", "b", "snapshot"}) {
            REQUIRE(open((image.folder() + "/" + name + "/data").c_str(), O_RDONLY | O_CLOEXEC) >=
                    0);
        }
        REQUIRE(truncate(first.c_str(), 1) == 0);
    });
    for (std::size_t i = 0; i < 3; ++i) {
        const Event opened = trace.nth("openat", i);
        EXPECT_EQ(opened.object()->inode, inode_of(first));
        EXPECT_EQ(opened.object()->device, device_of(opened.path()));
        EXPECT_EQ(opened.object_id() == trace.only("truncate").object_id(), i == 0) << i;
    }
}

TEST_F(Device, of_a_layer_is_its_own) {
    const std::string merged = at("merged");
    ASSERT_EQ(mkdir(merged.c_str(), 0700), 0);
    for (const char* name : {"lower", "lowest", "upper"}) {
        ASSERT_EQ(mkdir(at(name).c_str(), 0700), 0);
        ASSERT_EQ(mount("none", at(name).c_str(), "tmpfs", 0, nullptr), 0);
    }
    ASSERT_TRUE(make(at("lower/a")) && make(at("lowest/b")));
    ASSERT_EQ(mkdir(at("upper/upper").c_str(), 0700), 0);
    ASSERT_EQ(mkdir(at("upper/work").c_str(), 0700), 0);
    const std::string options = "xino=off,lowerdir=" + at("lower") + ":" + at("lowest") +
                                ",upperdir=" + at("upper/upper") + ",workdir=" + at("upper/work");
    const bool has_overlays = mount("none", merged.c_str(), "overlay", 0, options.c_str()) == 0;
    if (has_overlays) {
        expect_files_apart(merged);
        EXPECT_EQ(umount(merged.c_str()), 0);
    }
    for (const char* name : {"lower", "lowest", "upper"}) {
        EXPECT_EQ(umount(at(name).c_str()), 0);
    }
    if (!has_overlays) {
        GTEST_SKIP() << "no overlayfs here";
    }
}

}  // namespace
}  // namespace dyetrace::test
