// Symbolic links, whose text file systems keep in places of their own, and those of /proc, which have none.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <iostream>
#include <utility>
#include <vector>

#include "kernel/mounted_image.h"
#include "kernel/recorded.h"

namespace dyetrace::test {
namespace {

class Links : public KernelTest {
  protected:
    // In a folder: a call through a short and a long link, to a file and to a directory, before and after its name is there.
    void expect_objects_in(const std::string& folder) {
        const std::string long_name(100, 'x');
        const Trace trace = record([&] {
            REQUIRE(chdir(folder.c_str()) == 0);
            for (const std::string& name : {std::string("d"), long_name}) {
                REQUIRE(mkdir(name.c_str(), 0700) == 0);
                REQUIRE(symlink(name.c_str(), ("to-" + name).c_str()) == 0);
                REQUIRE(access(("to-" + name).c_str(), F_OK) == 0);
                REQUIRE(close(open(("to-" + name + "/a").c_str(), O_CREAT | O_RDWR, 0600)) == 0);
                REQUIRE(rename(("to-" + name + "/a").c_str(), ("to-" + name + "/b").c_str()) == 0);
                REQUIRE(symlink((name + "/b").c_str(), ("file-" + name).c_str()) == 0);
                REQUIRE(truncate(("file-" + name).c_str(), 5) == 0);
                REQUIRE(unlink(("to-" + name + "/b").c_str()) == 0);
            }
        });
        for (std::size_t i = 0; i < 2; ++i) {
            const Event made = trace.nth("openat", i);
            EXPECT_EQ(trace.nth("access", i).object_id(), trace.nth("mkdir", i).object_id());
            EXPECT_EQ(trace.nth("rename", i).object_id(), made.object_id());
            EXPECT_EQ(trace.nth("truncate", i).object_id(), made.object_id());
            EXPECT_EQ(trace.nth("unlink", i).object_id(), made.object_id());
            EXPECT_EQ(trace.nth("truncate", i).path(),
                      folder + "/" + (i == 0 ? "d" : long_name) + "/b");
        }
    }
};

TEST_F(Links, lead_to_objects_whatever_their_length) {
    const std::string folder = at("folder");
    ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
    expect_objects_in(folder);
}

TEST_F(Links, of_other_file_systems_lead_to_objects) {
    for (const std::string type : {"xfs", "btrfs", "ext4"}) {
        const MountedImage image(type, at(type + ".img"), at(type));
        if (!image) {
            std::cerr << "left out: links of " << type
                      << ", which cannot be made or mounted here\n";
            continue;
        }
        SCOPED_TRACE(type);
        expect_objects_in(image.folder());
    }
}

TEST_F(Links, of_proc_lead_to_what_a_task_refers_to) {
    const std::string folder = at("folder");
    ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
    const std::string descriptors = access("/dev/fd", F_OK) == 0 ? "/dev/fd/" : "/proc/self/fd/";
    before_ = [&] {
        REQUIRE(chdir(folder.c_str()) == 0);
        const int gone = open("gone", O_CREAT | O_RDWR, 0600);
        REQUIRE(gone >= 0 && dup2(gone, 90) == 90);
    };
    const Trace trace = record([&] {
        const int file = open("a", O_CREAT | O_RDWR, 0600);
        const std::string number = std::to_string(file);
        for (const std::string& path : {"/proc/self/fd/" + number,
                                        "/proc/thread-self/fd/" + number,
                                        "/proc/" + std::to_string(getpid()) + "/fd/" + number,
                                        descriptors + number,
                                        std::string("/proc/self/cwd/a"),
                                        "/proc/self/root" + folder + "/a"}) {
            REQUIRE(truncate(path.c_str(), 1) == 0);
        }
        REQUIRE(unlink("gone") == 0);
        REQUIRE(truncate("/proc/self/fd/90", 2) == 0);
        struct stat about {};
        REQUIRE(lstat(("/proc/self/fd/" + number).c_str(), &about) == 0);
        REQUIRE(access("/proc/self/exe", F_OK) == 0);
    });
    const Event made = trace.only("openat");
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(trace.nth("truncate", i).object_id(), made.object_id()) << i;
        EXPECT_EQ(trace.nth("truncate", i).path(), folder + "/a") << i;
    }
    EXPECT_EQ(trace.nth("truncate", 6).object_id(), trace.only("unlink").object_id());
    EXPECT_NE(trace.only("newfstatat").object_id(), made.object_id());
    EXPECT_EQ(trace.only("newfstatat").object()->object_type, schema::ObjectType::kSymlink);
    EXPECT_EQ(trace.only("access").object()->object_type, schema::ObjectType::kFile);
}

TEST_F(Links, of_proc_that_are_no_tasks_lead_where_they_say) {
    const std::vector<std::pair<std::string, std::string>> both{
        {"/proc/mounts", "/proc/self/mounts"}, {"/proc/net", "/proc/self/net"}};
    const Trace trace = record([&] {
        for (const auto& [through_link, direct] : both) {
            REQUIRE(access(through_link.c_str(), F_OK) == 0);
            REQUIRE(open(direct.c_str(), O_RDONLY) >= 0);
        }
    });
    for (std::size_t i = 0; i < both.size(); ++i) {
        EXPECT_EQ(trace.nth("access", i).object_id(), trace.nth("openat", i).object_id()) << i;
        EXPECT_EQ(trace.nth("access", i).path(), trace.nth("openat", i).path()) << i;
    }
}

}  // namespace
}  // namespace dyetrace::test
