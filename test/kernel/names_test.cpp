// rename*, link*, symlink*, unlink*, mkdir*, rmdir, mknod*, readlink*, chdir, fchdir, getcwd, umask.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdio>

#include "kernel/old_calls.h"
#include "kernel/rows.h"

namespace dyetrace::test {
namespace {

class Names : public RowsTest {};

TEST_F(Names, rename_has_both_names) {
    NEEDS_OLD_CALLS();
    make_file("a", "1");
    const std::string shown = rows([&] {
        REQUIRE(open(at("").c_str(), O_DIRECTORY) == 3);
        REQUIRE(syscall(SYS_rename, at("a").c_str(), at("b").c_str()) == 0);
        REQUIRE(syscall(SYS_rename, at("a").c_str(), at("b").c_str()) < 0);
        REQUIRE(chdir(at("").c_str()) == 0);
        REQUIRE(syscall(SYS_rename, "b", "./c") == 0);
        REQUIRE(syscall(SYS_renameat, 3, "c", AT_FDCWD, "d") == 0);
        REQUIRE(syscall(SYS_renameat2, 3, "d", 3, "e", RENAME_NOREPLACE) == 0);
        REQUIRE(syscall(SYS_renameat2, 3, "e", 3, "e", RENAME_EXCHANGE) == 0);
        REQUIRE(syscall(SYS_renameat2, 3, nullptr, 99, "e", 0) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 directory ~ "~/" O_RDONLY|O_DIRECTORY {"dfd":"AT_FDCWD","flags":"O_RDONLY|O_DIRECTORY","mode":"000"}
        rename metadata =0 #2 file ~/a "~/a" => #2 ~/b
        rename metadata =ENOENT ~/a "~/a" => ~/b
        chdir metadata =0 #1 directory ~ "~/"
        rename metadata =0 #2 file ~/b "b" => #2 ~/c
        renameat metadata =0 #2 file ~/c "c" => #2 ~/d {"olddfd":3,"newdfd":"AT_FDCWD"}
        renameat2 metadata =0 #2 file ~/d "d" => #2 ~/e {"olddfd":3,"newdfd":3,"flags":"RENAME_NOREPLACE"}
        renameat2 metadata =0 #2 file ~/e "e" => #2 ~/e {"olddfd":3,"newdfd":3,"flags":"RENAME_EXCHANGE"}
        renameat2 metadata =EFAULT => e {"olddfd":3,"newdfd":99,"flags":"0"}
    )"));
}

TEST_F(Names, links_have_both_names) {
    NEEDS_OLD_CALLS();
    make_file("a", "1");
    const std::string shown = rows([&] {
        REQUIRE(open(at("").c_str(), O_DIRECTORY) == 3);
        REQUIRE(syscall(SYS_link, at("a").c_str(), at("b").c_str()) == 0);
        REQUIRE(syscall(SYS_linkat, 3, "a", 3, "c", AT_SYMLINK_FOLLOW) == 0);
        REQUIRE(syscall(SYS_linkat, 3, "a", 3, "c", 0) < 0);
        REQUIRE(syscall(SYS_symlink, "../a", at("s").c_str()) == 0);
        REQUIRE(syscall(SYS_symlinkat, "a", 3, "t") == 0);
        char text[16];
        REQUIRE(syscall(SYS_readlink, at("s").c_str(), text, sizeof(text)) == 4);
        REQUIRE(syscall(SYS_readlinkat, 3, "t", text, sizeof(text)) == 1);
        REQUIRE(syscall(SYS_readlinkat, 3, "a", text, sizeof(text)) < 0);
        REQUIRE(open(at("s").c_str(), O_PATH | O_NOFOLLOW) == 4);
        REQUIRE(syscall(SYS_readlinkat, 4, "", text, sizeof(text)) == 4);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 directory ~ "~/" O_RDONLY|O_DIRECTORY {"dfd":"AT_FDCWD","flags":"O_RDONLY|O_DIRECTORY","mode":"000"}
        link metadata =0 #2 file ~/a "~/a" => #2 ~/b
        linkat metadata =0 #2 file ~/a "a" => #2 ~/c {"olddfd":3,"newdfd":3,"flags":"AT_SYMLINK_FOLLOW"}
        linkat metadata =EEXIST ~/a "a" => ~/c {"olddfd":3,"newdfd":3,"flags":"0"}
        symlink metadata =0 #3 symlink ~/s "~/s" => ../a
        symlinkat metadata =0 #4 symlink ~/t "t" => a {"newdfd":3}
        readlink metadata =4 #3 symlink ~/s "~/s" {"bufsiz":16}
        readlinkat metadata =1 #4 symlink ~/t "t" {"dfd":3,"bufsiz":16}
        readlinkat metadata =EINVAL ~/a "a" {"dfd":3,"bufsiz":16}
        openat file =4 fd=4 #3 symlink ~/s "~/s" O_RDONLY|O_NOFOLLOW|O_PATH {"dfd":"AT_FDCWD","flags":"O_RDONLY|O_NOFOLLOW|O_PATH","mode":"000"}
        readlinkat metadata =4 fd=4 #3 symlink ~/s "" {"dfd":4,"bufsiz":16}
    )"));
}

TEST_F(Names, directories_and_devices_are_made_and_removed) {
    NEEDS_OLD_CALLS();
    const std::string shown = rows([&] {
        REQUIRE(open(at("").c_str(), O_DIRECTORY) == 3);
        REQUIRE(syscall(SYS_umask, 027) == 022);
        REQUIRE(syscall(SYS_mkdir, at("d").c_str(), 0777) == 0);
        REQUIRE(syscall(SYS_mkdirat, 3, "e", 0700) == 0);
        REQUIRE(syscall(SYS_mkdirat, 3, "e", 0700) < 0);
        REQUIRE(syscall(SYS_rmdir, at("d").c_str()) == 0);
        REQUIRE(syscall(SYS_unlinkat, 3, "e", AT_REMOVEDIR) == 0);
        REQUIRE(syscall(SYS_mknod, at("fifo").c_str(), S_IFIFO | 0600, 0) == 0);
        REQUIRE(syscall(SYS_mknodat, 3, "file", S_IFREG | 0640, 0) == 0);
        REQUIRE(syscall(SYS_mknodat, 3, "null", S_IFCHR | 0600, makedev(1, 3)) == 0);
        REQUIRE(syscall(SYS_unlink, at("fifo").c_str()) == 0);
        REQUIRE(syscall(SYS_unlinkat, 3, "file", 0) == 0);
        REQUIRE(syscall(SYS_unlink, at("").c_str()) < 0);
        REQUIRE(syscall(SYS_rmdir, at("null").c_str()) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 directory ~ "~/" O_RDONLY|O_DIRECTORY {"dfd":"AT_FDCWD","flags":"O_RDONLY|O_DIRECTORY","mode":"000"}
        umask metadata =18 {"mask":"027"}
        mkdir metadata =0 #2 directory ~/d "~/d" {"mode":"0777"}
        mkdirat metadata =0 #3 directory ~/e "e" {"dfd":3,"mode":"0700"}
        mkdirat metadata =EEXIST ~/e "e" {"dfd":3,"mode":"0700"}
        rmdir metadata =0 #2 directory ~/d "~/d"
        unlinkat metadata =0 #3 directory ~/e "e" {"dfd":3,"flag":"AT_REMOVEDIR"}
        mknod metadata =0 #4 pipe ~/fifo "~/fifo" {"mode":"S_IFIFO|0600","dev":0}
        mknodat metadata =0 #5 file ~/file "file" {"dfd":3,"mode":"S_IFREG|0640","dev":0}
        mknodat metadata =0 #6 character_device ~/null "null" {"dfd":3,"mode":"S_IFCHR|0600","dev":259}
        unlink metadata =0 #4 pipe ~/fifo "~/fifo"
        unlinkat metadata =0 #5 file ~/file "file" {"dfd":3,"flag":"0"}
        unlink metadata =EISDIR #1 directory ~ "~/"
        rmdir metadata =ENOTDIR #6 character_device ~/null "~/null"
    )"));
}

TEST_F(Names, the_working_directory_moves) {
    ASSERT_EQ(mkdir(at("d").c_str(), 0755), 0);
    const std::string shown = rows([&] {
        char text[4096];
        REQUIRE(open(at("").c_str(), O_DIRECTORY) == 3);
        REQUIRE(chdir(at("d").c_str()) == 0);
        REQUIRE(chdir("..") == 0);
        REQUIRE(chdir("d") == 0);
        REQUIRE(fchdir(3) == 0);
        REQUIRE(chdir("none") < 0);
        REQUIRE(fchdir(99) < 0);
        REQUIRE(syscall(SYS_getcwd, text, 1) < 0);
        REQUIRE(chdir("/") == 0);
        REQUIRE(syscall(SYS_getcwd, text, sizeof(text)) == 2);
        REQUIRE(open("none", O_RDONLY) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 directory ~ "~/" O_RDONLY|O_DIRECTORY {"dfd":"AT_FDCWD","flags":"O_RDONLY|O_DIRECTORY","mode":"000"}
        chdir metadata =0 #2 directory ~/d "~/d"
        chdir metadata =0 #1 directory ~ ".."
        chdir metadata =0 #2 directory ~/d "d"
        fchdir metadata =0 fd=3 #1 directory ~ O_RDONLY|O_DIRECTORY
        chdir metadata =ENOENT ~/none "none"
        fchdir metadata =EBADF fd=99
        getcwd metadata =ERANGE {"size":1}
        chdir metadata =0 #3 directory / "/"
        getcwd metadata =2 {"size":4096}
        openat file =ENOENT /none "none" {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
    )"));
}

TEST_F(Names, a_deleted_file_keeps_its_object) {
    NEEDS_OLD_CALLS();
    const std::string shown = rows([&] {
        REQUIRE(open(at("a").c_str(), O_CREAT | O_RDWR, 0600) == 3);
        REQUIRE(unlink(at("a").c_str()) == 0);
        REQUIRE(write(3, "a", 1) == 1);
        REQUIRE(open(at("a").c_str(), O_CREAT | O_RDWR, 0600) == 4);
        REQUIRE(write(4, "b", 1) == 1);
        REQUIRE(write(3, "c", 1) == 1);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/a "~/a" O_RDWR size=0 {"dfd":"AT_FDCWD","flags":"O_RDWR|O_CREAT","mode":"0600"}
        unlink metadata =0 #1 file ~/a "~/a"
        write file =1 fd=3 #1 file ~/a O_RDWR @0 size=1 1/1 {"count":1}
        openat file =4 fd=4 #2 file ~/a "~/a" O_RDWR size=0 {"dfd":"AT_FDCWD","flags":"O_RDWR|O_CREAT","mode":"0600"}
        write file =1 fd=4 #2 file ~/a O_RDWR @0 size=1 1/1 {"count":1}
        write file =1 fd=3 #1 file ~/a O_RDWR @1 size=2 1/1 {"count":1}
    )"));
}

}  // namespace
}  // namespace dyetrace::test
