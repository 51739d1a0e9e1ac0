// Mounts, overlayfs, and namespaces of mounts, networks and processes.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "kernel/rows.h"
#include "kernel/socket_address.h"

namespace dyetrace::test {
namespace {

class Namespace : public RowsTest {
  protected:
    // Mounts of the program are its own. The root of a chroot need not be a mount, and is nobody's then.
    void SetUp() override {
        RowsTest::SetUp();
        before_ = [] {
            REQUIRE(unshare(CLONE_NEWNS) == 0);
            REQUIRE(mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 ||
                    errno == EINVAL);
        };
    }
    void make_folders(std::initializer_list<const char*> names) {
        for (const char* name : names) {
            ASSERT_EQ(mkdir(at(name).c_str(), 0755), 0);
        }
    }
};

TEST_F(Namespace, a_path_goes_through_its_mounts) {
    make_folders({"disk"});
    const std::string shown = rows([&] {
        REQUIRE(mount("none", at("disk").c_str(), "tmpfs", MS_NODEV, nullptr) == 0);
        REQUIRE(open(at("disk/data").c_str(), O_CREAT | O_WRONLY, 0600) == 3);
        REQUIRE(umount2(at("disk").c_str(), MNT_DETACH) == 0);
        REQUIRE(umount2(at("disk").c_str(), 0) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        mount metadata =0 => #1 ~/disk {"dev_name":"none","type":"tmpfs","flags":"MS_NODEV"}
        openat file =3 fd=3 #2 file [tmpfs] ~/disk/data "~/disk/data" O_WRONLY size=0 {"dfd":"AT_FDCWD","flags":"O_WRONLY|O_CREAT","mode":"0600"}
        umount2 metadata =0 #1 directory [tmpfs] ~/disk "~/disk" {"flags":"MNT_DETACH"}
        umount2 metadata =EINVAL #3 directory ~/disk "~/disk" {"flags":"0"}
    )"));
}

TEST_F(Namespace, a_bind_mount_is_another_name_of_the_same_object) {
    make_folders({"one", "two"});
    make_file("one/data", "123");
    const std::string shown = rows([&] {
        REQUIRE(mount(at("one").c_str(), at("two").c_str(), nullptr, MS_BIND, nullptr) == 0);
        REQUIRE(open(at("one/data").c_str(), O_WRONLY) == 3);
        REQUIRE(open(at("two/data").c_str(), O_WRONLY) == 4);
        REQUIRE(write(4, "1", 1) == 1);
    });
    EXPECT_EQ(shown, lines(R"(
        mount metadata =0 => #1 ~/two {"dev_name":"~/one","flags":"MS_BIND"}
        openat file =3 fd=3 #2 file ~/one/data "~/one/data" O_WRONLY size=3 {"dfd":"AT_FDCWD","flags":"O_WRONLY","mode":"000"}
        openat file =4 fd=4 #2 file ~/two/data "~/two/data" O_WRONLY size=3 {"dfd":"AT_FDCWD","flags":"O_WRONLY","mode":"000"}
        write file =1 fd=4 #2 file ~/two/data O_WRONLY @0 size=3 1/1 {"count":1}
    )"));
}

TEST_F(Namespace, a_recreated_file_of_an_overlay_is_another_object) {
    make_folders({"base", "lower", "upper", "work", "merged"});
    const std::string shown = rows([&] {
        REQUIRE(mount("none", at("base").c_str(), "tmpfs", 0, nullptr) == 0);
        for (const char* name : {"base/lower", "base/upper", "base/work"}) {
            REQUIRE(mkdir(at(name).c_str(), 0755) == 0);
        }
        const std::string options = "lowerdir=" + at("base/lower") +
                                    ",upperdir=" + at("base/upper") + ",workdir=" + at("base/work");
        REQUIRE(mount("none", at("merged").c_str(), "overlay", 0, options.c_str()) == 0);
        for (int i = 0; i < 2; ++i) {
            REQUIRE(open(at("merged/data").c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600) == 3);
            REQUIRE(write(3, "1", 1) == 1);
            REQUIRE(close(3) == 0);
            REQUIRE(open(at("merged/data").c_str(), O_RDONLY) == 3);
            REQUIRE(close(3) == 0);
            REQUIRE(unlink(at("merged/data").c_str()) == 0);
        }
    });
    EXPECT_EQ(shown, lines(R"(
        mount metadata =0 => #1 ~/base {"dev_name":"none","type":"tmpfs","flags":"0"}
        mkdir metadata =0 #2 directory [tmpfs] ~/base/lower "~/base/lower" {"mode":"0755"}
        mkdir metadata =0 #3 directory [tmpfs] ~/base/upper "~/base/upper" {"mode":"0755"}
        mkdir metadata =0 #4 directory [tmpfs] ~/base/work "~/base/work" {"mode":"0755"}
        mount metadata =0 => #5 ~/merged {"dev_name":"none","type":"overlay","flags":"0"}
        openat file =3 fd=3 #6 file [overlay] ~/merged/data "~/merged/data" O_WRONLY size=0 {"dfd":"AT_FDCWD","flags":"O_WRONLY|O_CREAT|O_EXCL","mode":"0600"}
        write file =1 fd=3 #6 file [overlay] ~/merged/data O_WRONLY @0 size=1 1/1 {"count":1}
        close file =0 fd=3 #6 file [overlay] ~/merged/data O_WRONLY
        openat file =3 fd=3 #6 file [overlay] ~/merged/data "~/merged/data" O_RDONLY size=1 {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
        close file =0 fd=3 #6 file [overlay] ~/merged/data O_RDONLY
        unlink metadata =0 #6 file [overlay] ~/merged/data "~/merged/data"
        openat file =3 fd=3 #7 file [overlay] ~/merged/data "~/merged/data" O_WRONLY size=0 {"dfd":"AT_FDCWD","flags":"O_WRONLY|O_CREAT|O_EXCL","mode":"0600"}
        write file =1 fd=3 #7 file [overlay] ~/merged/data O_WRONLY @0 size=1 1/1 {"count":1}
        close file =0 fd=3 #7 file [overlay] ~/merged/data O_WRONLY
        openat file =3 fd=3 #7 file [overlay] ~/merged/data "~/merged/data" O_RDONLY size=1 {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
        close file =0 fd=3 #7 file [overlay] ~/merged/data O_RDONLY
        unlink metadata =0 #7 file [overlay] ~/merged/data "~/merged/data"
    )"));
}

TEST_F(Namespace, a_mount_that_moves_takes_its_files_along) {
    make_folders({"disk", "other"});
    const std::string shown = rows([&] {
        REQUIRE(mount("none", at("disk").c_str(), "tmpfs", 0, nullptr) == 0);
        REQUIRE(open(at("disk/data").c_str(), O_CREAT | O_WRONLY, 0600) == 3);
        REQUIRE(
            syscall(
                SYS_move_mount, AT_FDCWD, at("disk").c_str(), AT_FDCWD, at("other").c_str(), 0) ==
            0);
        REQUIRE(write(3, "1", 1) == 1);
    });
    EXPECT_EQ(shown, lines(R"(
        mount metadata =0 => #1 ~/disk {"dev_name":"none","type":"tmpfs","flags":"0"}
        openat file =3 fd=3 #2 file [tmpfs] ~/disk/data "~/disk/data" O_WRONLY size=0 {"dfd":"AT_FDCWD","flags":"O_WRONLY|O_CREAT","mode":"0600"}
        move_mount metadata =0 #1 directory [tmpfs] ~/disk "~/disk" => #1 ~/other {"from_dfd":"AT_FDCWD","to_dfd":"AT_FDCWD","flags":0}
        write file =1 fd=3 #2 file [tmpfs] ~/other/data O_WRONLY @0 size=1 1/1 {"count":1}
    )"));
}

TEST_F(Namespace, what_one_of_many_mounts_hides_is_not_what_a_path_leads_to) {
    constexpr int kMounts = 300;  // MOUNTS_ON_ONE_MAX and more
    make_folders({"disk"});
    const std::string shown = rows([&] {
        REQUIRE(mount("none", at("disk").c_str(), "tmpfs", 0, nullptr) == 0);
        REQUIRE(mkdir(at("disk/last").c_str(), 0700) == 0);
        REQUIRE(close(open(at("disk/last/data").c_str(), O_CREAT | O_WRONLY, 0600)) == 0);
        for (int i = 0; i < kMounts; ++i) {
            const std::string folder = at("disk/" + std::to_string(i));
            REQUIRE(mkdir(folder.c_str(), 0700) == 0);
            REQUIRE(mount("none", folder.c_str(), "tmpfs", 0, nullptr) == 0);
        }
        REQUIRE(mount("none", at("disk/last").c_str(), "tmpfs", 0, nullptr) == 0);
        REQUIRE(close(open(at("disk/last/data").c_str(), O_CREAT | O_WRONLY, 0600)) == 0);
        REQUIRE(truncate(at("disk/last/data").c_str(), 5) == 0);
    });
    EXPECT_EQ(shown.substr(shown.rfind("truncate")), lines(R"(
        truncate file =0 ~/disk/last/data "~/disk/last/data" {"length":5}
    )"));
}

TEST_F(Namespace, the_way_up_leads_to_what_is_mounted_there) {
    make_folders({"a", "a/b"});
    make_file("a/data", "123");
    const std::string shown = rows([&] {
        REQUIRE(chdir(at("a/b").c_str()) == 0);
        REQUIRE(mount("none", at("a").c_str(), "tmpfs", 0, nullptr) == 0);
        REQUIRE(close(open(at("a/data").c_str(), O_CREAT | O_WRONLY, 0600)) == 0);
        REQUIRE(unlink("../data") == 0);
    });
    EXPECT_EQ(shown, lines(R"(
        chdir metadata =0 #1 directory ~/a/b "~/a/b"
        mount metadata =0 => #2 ~/a {"dev_name":"none","type":"tmpfs","flags":"0"}
        openat file =3 fd=3 #3 file [tmpfs] ~/a/data "~/a/data" O_WRONLY size=0 {"dfd":"AT_FDCWD","flags":"O_WRONLY|O_CREAT","mode":"0600"}
        close file =0 fd=3 #3 file [tmpfs] ~/a/data O_WRONLY
        unlink metadata =0 #3 file [tmpfs] ~/a/data "../data"
    )"));
}

TEST_F(Namespace, a_root_that_changes_is_where_paths_begin) {
    struct statx root {};
    ASSERT_EQ(statx(AT_FDCWD, "/", 0, STATX_BASIC_STATS, &root), 0);
    if ((root.stx_attributes & STATX_ATTR_MOUNT_ROOT) == 0) {
        GTEST_SKIP() << "pivot_root() is refused in a chroot whose root is no mount";
    }
    make_folders({"disk"});
    const std::string shown = rows([&] {
        REQUIRE(mount("none", at("disk").c_str(), "tmpfs", 0, nullptr) == 0);
        REQUIRE(open(at("disk/data").c_str(), O_CREAT | O_WRONLY, 0600) == 3);
        REQUIRE(chdir(at("disk").c_str()) == 0);
        REQUIRE(mkdir("old", 0700) == 0);
        REQUIRE(syscall(SYS_pivot_root, ".", "old") == 0);
        REQUIRE(write(3, "1", 1) == 1);
        REQUIRE(open("/data", O_WRONLY) == 4);
    });
    EXPECT_EQ(shown, lines(R"(
        mount metadata =0 => #1 ~/disk {"dev_name":"none","type":"tmpfs","flags":"0"}
        openat file =3 fd=3 #2 file [tmpfs] ~/disk/data "~/disk/data" O_WRONLY size=0 {"dfd":"AT_FDCWD","flags":"O_WRONLY|O_CREAT","mode":"0600"}
        chdir metadata =0 #1 directory [tmpfs] ~/disk "~/disk"
        mkdir metadata =0 #3 directory [tmpfs] ~/disk/old "old" {"mode":"0700"}
        pivot_root metadata =0 #1 directory [tmpfs] ~/disk "." => #4 /old
        write file =1 fd=3 #2 file [tmpfs] /data O_WRONLY @0 size=1 1/1 {"count":1}
        openat file =4 fd=4 #2 file [tmpfs] /data "/data" O_WRONLY size=1 {"dfd":"AT_FDCWD","flags":"O_WRONLY","mode":"000"}
    )"));
}

TEST_F(Namespace, a_path_in_a_chroot_goes_on_to_the_root_of_the_namespace) {
    make_folders({"root"});
    make_file("root/data", "123");
    const std::string shown = rows([&] {
        REQUIRE(chroot(at("root").c_str()) == 0);
        REQUIRE(open("/data", O_RDONLY) == 3);
        REQUIRE(open("/none", O_RDONLY) < 0);
        REQUIRE(chdir("/") == 0);
        REQUIRE(open("none", O_RDONLY) < 0);
        REQUIRE(mkdir("/made", 0700) == 0);
        REQUIRE(chroot("/made") == 0);
        REQUIRE(chroot("/none") < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        chroot metadata =0 #1 directory ~/root "~/root"
        openat file =3 fd=3 #2 file ~/root/data "/data" O_RDONLY size=3 {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
        openat file =ENOENT ~/root/none "/none" {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
        chdir metadata =0 #1 directory ~/root "/"
        openat file =ENOENT ~/root/none "none" {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
        mkdir metadata =0 #3 directory ~/root/made "/made" {"mode":"0700"}
        chroot metadata =0 #3 directory ~/root/made "/made"
        chroot metadata =ENOENT ~/root/made/none "/none"
    )"));
}

TEST_F(Namespace, a_network_namespace_has_addresses_of_its_own) {
    const Trace trace = record([&] {
        REQUIRE(socket(AF_INET, SOCK_DGRAM, 0) == 3);
        REQUIRE(unshare(CLONE_NEWNET) == 0);
        REQUIRE(socket(AF_INET, SOCK_DGRAM, 0) == 4);
        REQUIRE(write(3, "", 0) < 0);
    });
    const Event before = trace.nth("socket", 0), after = trace.nth("socket", 1);
    EXPECT_NE(before.task()->network_namespace, after.task()->network_namespace);
    EXPECT_EQ(before.task()->process_id, after.task()->process_id);
    ASSERT_TRUE(before.object() != nullptr && after.object() != nullptr);
    ASSERT_TRUE(before.object()->socket && after.object()->socket);
    EXPECT_EQ(before.object()->socket->network_namespace, before.task()->network_namespace);
    EXPECT_EQ(after.object()->socket->network_namespace, after.task()->network_namespace);
    // a socket stays where it was made
    EXPECT_EQ(trace.only("write").object()->socket->network_namespace,
              before.task()->network_namespace);
}

TEST_F(Namespace, a_namespace_that_is_a_file_is_named_by_its_kind) {
    const std::string shown = rows([] {
        REQUIRE(open("/proc/self/ns/net", O_RDONLY) == 3);
        REQUIRE(setns(3, CLONE_NEWNET) == 0);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 anonymous [nsfs] net:[N] "/proc/self/ns/net" O_RDONLY {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
        setns process =0 fd=3 #1 anonymous [nsfs] net:[N] O_RDONLY {"flags":"CLONE_NEWNET"}
    )"));
}

TEST_F(Namespace, a_process_namespace_has_numbers_of_its_own) {
    const Trace trace = record([&] {
        const auto child =
            static_cast<pid_t>(syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0));
        if (child == 0) {
            REQUIRE(getpid() == 1);
            _exit(0);
        }
        REQUIRE(waitpid(child, nullptr, 0) == child);
    });
    const Event inside = trace.only("getpid");
    EXPECT_EQ(inside.result(), 1);
    EXPECT_EQ(inside.task()->pid_in_namespace, 1u);
    EXPECT_EQ(inside.task()->pid, static_cast<std::uint32_t>(trace.only("clone").result()));
    EXPECT_NE(inside.task()->pid_namespace, trace.only("clone").task()->pid_namespace);
}

// What `dyetrace trace --decode-pids` is told.
class Numbers : public KernelTest {
  protected:
    Numbers() {
        options_.number_threads = true;
        alone_ = true;
    }
};

TEST_F(Numbers, of_a_thread_are_told_in_each_namespace_that_sees_it_with_each_of_its_names) {
    const Trace trace = record([&] {
        const auto child =
            static_cast<pid_t>(syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0));
        if (child == 0) {
            REQUIRE(prctl(PR_SET_NAME, "renamed") == 0);
            REQUIRE(getpid() == 1);
            _exit(0);
        }
        REQUIRE(waitpid(child, nullptr, 0) == child);
    });
    schema::ThreadNumbers numbers;
    for (const auto* number : trace.facts<schema::ThreadNumber>()) {
        numbers.add(*number);
    }
    const Event inside = trace.only("getpid"), outside = trace.only("clone");
    const std::uint32_t child = numbers.thread(inside.task()->pid_namespace, 1);
    EXPECT_EQ(child, inside.task()->tid);
    EXPECT_EQ(numbers.number(child, outside.task()->pid_namespace), child);
    ASSERT_NE(numbers.name(child, inside.raw().start_ns), nullptr);
    EXPECT_EQ(*numbers.name(child, inside.raw().start_ns), "renamed");
    EXPECT_EQ(*numbers.name(child, outside.raw().start_ns), outside.task()->comm);
}

TEST_F(Numbers, of_threads_that_are_there_are_told_by_themselves) {
    const Trace trace = record([] { REQUIRE(getpid() > 0); });
    schema::Dictionary known;
    for (std::span<const std::byte> records = thread_numbers(); !records.empty();) {
        const schema::RecordBytes record = schema::first_record(records);
        ASSERT_FALSE(record.empty());
        EXPECT_TRUE(known.add(record));
        records = records.subspan(record.size());
    }
    const std::uint32_t here = trace.only("getpid").task()->pid_namespace;
    const std::uint32_t self = known.numbers().thread(here, static_cast<std::uint32_t>(getpid()));
    ASSERT_NE(known.numbers().name(self, 0), nullptr);
    EXPECT_EQ(*known.numbers().name(self, 0), "kernel_test");
}

}  // namespace
}  // namespace dyetrace::test
