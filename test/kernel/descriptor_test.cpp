// dup*, fcntl, flock, ioctl, and the calls that make a descriptor of something that has no file.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <csignal>

#include "kernel/old_calls.h"
#include "kernel/rows.h"

namespace dyetrace::test {
namespace {

class Descriptor : public RowsTest {};

TEST_F(Descriptor, a_duplicate_is_the_same_object) {
    const std::string file = make_file("data", "123");
    const std::string shown = rows([&] {
        REQUIRE(open(file.c_str(), O_RDWR) == 3);
        REQUIRE(dup(3) == 4);
        REQUIRE(dup2(3, 10) == 10);
        REQUIRE(dup2(3, 3) == 3);
        REQUIRE(dup3(10, 11, O_CLOEXEC) == 11);
        REQUIRE(fcntl(11, F_DUPFD, 20) == 20);
        REQUIRE(fcntl(11, F_DUPFD_CLOEXEC, 30) == 30);
        REQUIRE(write(30, "x", 1) == 1);
        REQUIRE(write(4, "y", 1) == 1);
        REQUIRE(dup(99) < 0);
        REQUIRE(dup2(99, 3) < 0);
        REQUIRE(dup3(3, 3, 0) < 0);
        REQUIRE(open(at("other").c_str(), O_CREAT | O_WRONLY, 0600) == 5);
        REQUIRE(dup2(3, 5) == 5);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/data "~/data" O_RDWR size=3 {"dfd":"AT_FDCWD","flags":"O_RDWR","mode":"000"}
        dup file =4 fd=4 #1 file ~/data O_RDWR size=3 => #1 ~/data {"fd":3}
        dup2 file =10 fd=10 #1 file ~/data O_RDWR size=3 => #1 ~/data {"oldfd":3,"newfd":10}
        dup2 file =3 fd=3 #1 file ~/data O_RDWR size=3 => #1 ~/data {"oldfd":3,"newfd":3}
        dup3 file =11 fd=11 #1 file ~/data O_RDWR size=3 => #1 ~/data {"oldfd":10,"newfd":11,"flags":"O_CLOEXEC"}
        fcntl file =20 fd=20 #1 file ~/data O_RDWR size=3 => #1 ~/data {"fd":11,"cmd":"F_DUPFD","arg":20}
        fcntl file =30 fd=30 #1 file ~/data O_RDWR size=3 => #1 ~/data {"fd":11,"cmd":"F_DUPFD_CLOEXEC","arg":30}
        write file =1 fd=30 #1 file ~/data O_RDWR @0 size=3 1/1 {"count":1}
        write file =1 fd=4 #1 file ~/data O_RDWR @1 size=3 1/1 {"count":1}
        dup file =EBADF fd=99 {"fd":99}
        dup2 file =EBADF fd=99 {"oldfd":99,"newfd":3}
        dup3 file =EINVAL fd=3 #1 file ~/data O_RDWR size=3 {"oldfd":3,"newfd":3,"flags":"0"}
        openat file =5 fd=5 #2 file ~/other "~/other" O_WRONLY size=0 {"dfd":"AT_FDCWD","flags":"O_WRONLY|O_CREAT","mode":"0600"}
        dup2 file =5 fd=5 #1 file ~/data O_RDWR size=3 => #1 ~/data {"oldfd":3,"newfd":5}
    )"));
}

TEST_F(Descriptor, fcntl_names_its_command) {
    const std::string file = make_file("data", "123");
    const std::string shown = rows([&] {
        flock64 range{};
        range.l_type = F_WRLCK;
        REQUIRE(open(file.c_str(), O_RDWR) == 3);
        REQUIRE(fcntl(3, F_GETFD) == 0);
        REQUIRE(fcntl(3, F_SETFD, FD_CLOEXEC) == 0);
        REQUIRE(fcntl(3, F_SETFL, O_APPEND | O_NONBLOCK) == 0);
        REQUIRE(fcntl(3, F_GETFL) == (O_RDWR | O_APPEND | O_NONBLOCK | 0100000));
        REQUIRE(fcntl(3, F_SETLK, &range) == 0);
        REQUIRE(fcntl(3, F_OFD_GETLK, &range) == 0);
        REQUIRE(fcntl(3, 12345, 0) < 0);
        REQUIRE(fcntl(99, F_GETFD) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/data "~/data" O_RDWR size=3 {"dfd":"AT_FDCWD","flags":"O_RDWR","mode":"000"}
        fcntl file =0 fd=3 #1 file ~/data O_RDWR size=3 {"fd":3,"cmd":"F_GETFD"}
        fcntl file =0 fd=3 #1 file ~/data O_RDWR size=3 {"fd":3,"cmd":"F_SETFD","arg":"FD_CLOEXEC"}
        fcntl file =0 fd=3 #1 file ~/data O_RDWR|O_APPEND|O_NONBLOCK size=3 {"fd":3,"cmd":"F_SETFL","arg":"O_RDONLY|O_APPEND|O_NONBLOCK"}
        fcntl file =35842 fd=3 #1 file ~/data O_RDWR|O_APPEND|O_NONBLOCK size=3 {"fd":3,"cmd":"F_GETFL"}
        fcntl file =0 fd=3 #1 file ~/data O_RDWR|O_APPEND|O_NONBLOCK size=3 {"fd":3,"cmd":"F_SETLK"}
        fcntl file =0 fd=3 #1 file ~/data O_RDWR|O_APPEND|O_NONBLOCK size=3 {"fd":3,"cmd":"F_OFD_GETLK"}
        fcntl file =EINVAL fd=3 #1 file ~/data O_RDWR|O_APPEND|O_NONBLOCK size=3 {"fd":3,"cmd":"0x3039","arg":0}
        fcntl file =EBADF fd=99 {"fd":99,"cmd":"F_GETFD"}
    )"));
}

TEST_F(Descriptor, flock_and_ioctl_name_their_operation) {
    const std::string file = make_file("data", "123");
    const std::string shown = rows([&] {
        int available = 0;
        REQUIRE(open(file.c_str(), O_RDWR) == 3);
        REQUIRE(open(file.c_str(), O_RDWR) == 4);
        REQUIRE(flock(3, LOCK_EX) == 0);
        REQUIRE(flock(4, LOCK_SH | LOCK_NB) < 0);
        REQUIRE(flock(3, LOCK_UN) == 0);
        REQUIRE(ioctl(3, FIONREAD, &available) == 0 && available == 3);
        REQUIRE(ioctl(3, TCGETS, &available) < 0);
        REQUIRE(ioctl(3, FIOCLEX, 0) == 0);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/data "~/data" O_RDWR size=3 {"dfd":"AT_FDCWD","flags":"O_RDWR","mode":"000"}
        openat file =4 fd=4 #1 file ~/data "~/data" O_RDWR size=3 {"dfd":"AT_FDCWD","flags":"O_RDWR","mode":"000"}
        flock file =0 fd=3 #1 file ~/data O_RDWR size=3 {"cmd":"LOCK_EX"}
        flock file =EAGAIN fd=4 #1 file ~/data O_RDWR size=3 {"cmd":"LOCK_SH|LOCK_NB"}
        flock file =0 fd=3 #1 file ~/data O_RDWR size=3 {"cmd":"LOCK_UN"}
        ioctl file =0 fd=3 #1 file ~/data O_RDWR size=3 {"cmd":"FIONREAD"}
        ioctl file =ENOTTY fd=3 #1 file ~/data O_RDWR size=3 {"cmd":"TCGETS"}
        ioctl file =0 fd=3 #1 file ~/data O_RDWR size=3 {"cmd":"FIOCLEX"}
    )"));
}

TEST_F(Descriptor, what_has_no_file_has_a_readable_name) {
    NEEDS_OLD_CALLS();
    const std::string shown = rows([&] {
        sigset_t signals;
        sigemptyset(&signals);
        char buffer[8] = {1};
        REQUIRE(eventfd(0, 0) == 3);
        REQUIRE(eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC) == 4);
        REQUIRE(syscall(SYS_eventfd, 7) == 5);
        REQUIRE(epoll_create1(EPOLL_CLOEXEC) == 6);
        REQUIRE(epoll_create(1) == 7);
        REQUIRE(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK) == 8);
        REQUIRE(syscall(SYS_signalfd4, -1, &signals, 8, SFD_CLOEXEC) == 9);
        REQUIRE(syscall(SYS_signalfd, -1, &signals, 8) == 10);
        REQUIRE(inotify_init1(IN_NONBLOCK) == 11);
        REQUIRE(syscall(SYS_inotify_init) == 12);
        REQUIRE(memfd_create("cache", MFD_CLOEXEC) == 13);
        REQUIRE(inotify_add_watch(11, at("").c_str(), IN_CREATE | IN_DELETE) == 1);
        REQUIRE(write(3, buffer, 8) == 8);
        REQUIRE(read(5, buffer, 8) == 8);
        REQUIRE(write(13, "abc", 3) == 3);
        REQUIRE(syscall(SYS_pidfd_open, getpid(), 0) == 14);
        REQUIRE(read(8, buffer, 8) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        eventfd2 file =3 fd=3 #1 anonymous [anon_inodefs] anon_inode:[eventfd] O_RDWR {"count":0,"flags":"0"}
        eventfd2 file =4 fd=4 #2 anonymous [anon_inodefs] anon_inode:[eventfd] O_RDWR {"count":0,"flags":"EFD_SEMAPHORE|EFD_CLOEXEC"}
        eventfd file =5 fd=5 #3 anonymous [anon_inodefs] anon_inode:[eventfd] O_RDWR {"count":7}
        epoll_create1 wait =6 fd=6 #4 anonymous [anon_inodefs] anon_inode:[eventpoll] O_RDWR {"flags":"EPOLL_CLOEXEC"}
        epoll_create wait =7 fd=7 #5 anonymous [anon_inodefs] anon_inode:[eventpoll] O_RDWR {"size":1}
        timerfd_create file =8 fd=8 #6 anonymous [anon_inodefs] anon_inode:[timerfd] O_RDWR|O_NONBLOCK {"clockid":"CLOCK_MONOTONIC","flags":"TFD_NONBLOCK"}
        signalfd4 file =9 fd=9 #7 anonymous [anon_inodefs] anon_inode:[signalfd] O_RDWR {"ufd":-1,"sizemask":8,"flags":"SFD_CLOEXEC"}
        signalfd file =10 fd=10 #8 anonymous [anon_inodefs] anon_inode:[signalfd] O_RDWR {"ufd":-1,"sizemask":8}
        inotify_init1 file =11 fd=11 #9 anonymous [anon_inodefs] anon_inode:inotify O_RDONLY|O_NONBLOCK {"flags":"IN_NONBLOCK"}
        inotify_init file =12 fd=12 #10 anonymous [anon_inodefs] anon_inode:inotify O_RDONLY
        memfd_create file =13 fd=13 #11 file [tmpfs] memfd:cache O_RDWR size=0 {"uname":"cache","flags":"MFD_CLOEXEC"}
        inotify_add_watch file =1 fd=11 #9 anonymous [anon_inodefs] anon_inode:inotify O_RDONLY|O_NONBLOCK => #12 ~ {"mask":"IN_CREATE|IN_DELETE"}
        write file =8 fd=3 #1 anonymous [anon_inodefs] anon_inode:[eventfd] O_RDWR 8/8 {"count":8}
        read file =8 fd=5 #3 anonymous [anon_inodefs] anon_inode:[eventfd] O_RDWR 8/8 {"count":8}
        write file =3 fd=13 #11 file [tmpfs] memfd:cache O_RDWR @0 size=3 3/3 {"count":3}
        getpid other =p1
        pidfd_open process =14 fd=14 #13 anonymous [pidfs] pidfd:[N] O_RDWR target=p1 {"pid":p1,"flags":"0"}
        read file =EAGAIN fd=8 #6 anonymous [anon_inodefs] anon_inode:[timerfd] O_RDWR|O_NONBLOCK -/8 {"count":8}
    )"));
}

TEST_F(Descriptor, a_temporary_file_has_a_name_only_when_it_is_linked) {
    const std::string shown = rows([&] {
        REQUIRE(open(at("").c_str(), O_TMPFILE | O_RDWR, 0600) == 3);
        REQUIRE(write(3, "abc", 3) == 3);
        REQUIRE(
            linkat(AT_FDCWD, "/proc/self/fd/3", AT_FDCWD, at("named").c_str(), AT_SYMLINK_FOLLOW) ==
            0);
        REQUIRE(write(3, "abc", 3) == 3);
        REQUIRE(open(at("named").c_str(), O_RDONLY) == 4);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/#N "~/" O_RDWR|O_TMPFILE size=0 {"dfd":"AT_FDCWD","flags":"O_RDWR|O_TMPFILE","mode":"0600"}
        write file =3 fd=3 #1 file ~/#N O_RDWR|O_TMPFILE @0 size=3 3/3 {"count":3}
        linkat metadata =0 #1 file ~/#N "/proc/self/fd/3" => #1 ~/named {"olddfd":"AT_FDCWD","newdfd":"AT_FDCWD","flags":"AT_SYMLINK_FOLLOW"}
        write file =3 fd=3 #1 file ~/#N O_RDWR|O_TMPFILE @3 size=6 3/3 {"count":3}
        openat file =4 fd=4 #1 file ~/named "~/named" O_RDONLY size=6 {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
    )"));
}

TEST_F(Descriptor, what_takes_any_descriptor_has_the_class_of_its_object) {
    const std::string shown = rows([] {
        int ends[2], waiting = 0;
        REQUIRE(pipe(ends) == 0);
        REQUIRE(socket(AF_UNIX, SOCK_DGRAM, 0) == 5);
        for (const int fd : {3, 5}) {
            REQUIRE(fcntl(fd, F_GETFD, 0) == 0);
            REQUIRE(ioctl(fd, FIONREAD, &waiting) == 0);
            REQUIRE(dup(fd) == 6);
            REQUIRE(dup2(fd, 6) == 6);
            REQUIRE(fsync(fd) < 0);
            REQUIRE(close(6) == 0);
        }
        REQUIRE(close(99) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        pipe2 pipe =0 fd=3 #1 pipe [pipefs] pipe:[N] O_RDONLY => #1 pipe:[N] {"flags":"0"}
        socket network =5 fd=5 #2 socket [sockfs] socket:[N] O_RDWR {"family":"AF_UNIX","type":"SOCK_DGRAM","protocol":0}
        fcntl pipe =0 fd=3 #1 pipe [pipefs] pipe:[N] O_RDONLY {"fd":3,"cmd":"F_GETFD"}
        ioctl pipe =0 fd=3 #1 pipe [pipefs] pipe:[N] O_RDONLY {"cmd":"FIONREAD"}
        dup pipe =6 fd=6 #1 pipe [pipefs] pipe:[N] O_RDONLY => #1 pipe:[N] {"fd":3}
        dup2 pipe =6 fd=6 #1 pipe [pipefs] pipe:[N] O_RDONLY => #1 pipe:[N] {"oldfd":3,"newfd":6}
        fsync pipe =EINVAL fd=3 #1 pipe [pipefs] pipe:[N] O_RDONLY
        close pipe =0 fd=6 #1 pipe [pipefs] pipe:[N] O_RDONLY
        fcntl network =0 fd=5 #2 socket [sockfs] socket:[N] O_RDWR {"fd":5,"cmd":"F_GETFD"}
        ioctl network =0 fd=5 #2 socket [sockfs] socket:[N] O_RDWR {"cmd":"FIONREAD"}
        dup network =6 fd=6 #2 socket [sockfs] socket:[N] O_RDWR => #2 socket:[N] {"fd":5}
        dup2 network =6 fd=6 #2 socket [sockfs] socket:[N] O_RDWR => #2 socket:[N] {"oldfd":5,"newfd":6}
        fsync network =EINVAL fd=5 #2 socket [sockfs] socket:[N] O_RDWR
        close network =0 fd=6 #2 socket [sockfs] socket:[N] O_RDWR
        close file =EBADF fd=99
    )"));
}

}  // namespace
}  // namespace dyetrace::test
