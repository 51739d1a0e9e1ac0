// process_vm_readv, process_vm_writev; open_tree; remap_file_pages.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "kernel/rows.h"

namespace dyetrace::test {
namespace {

class OtherProcess : public RowsTest {};

TEST_F(OtherProcess, what_is_read_and_written_in_it) {
    const std::string shown = rows([] {
        char from[] = "abcdefgh", to[9] = {};
        iovec far{from, 6}, near[2] = {{to, 2}, {to + 4, 4}};
        REQUIRE(syscall(SYS_process_vm_readv, getpid(), near, 2, &far, 1, 0) == 6);
        REQUIRE(syscall(SYS_process_vm_writev, getpid(), near, 1, &far, 1, 0) == 2);
        REQUIRE(syscall(SYS_process_vm_readv, getpid(), near, 2, &far, 1, 1) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        getpid other =p1
        process_vm_readv process =6 {"pid":p1,"liovcnt":2,"riovcnt":1,"flags":0}
        getpid other =p1
        process_vm_writev process =2 {"pid":p1,"liovcnt":1,"riovcnt":1,"flags":0}
        getpid other =p1
        process_vm_readv process =EINVAL {"pid":p1,"liovcnt":2,"riovcnt":1,"flags":1}
    )"));
}

TEST_F(OtherProcess, a_tree_is_opened_and_pages_are_mapped_again) {
    const std::string file = make_file("data", "0123456789");
    const std::string shown = rows([&] {
        REQUIRE(open(file.c_str(), O_RDWR) == 3);
        REQUIRE(syscall(SYS_open_tree, AT_FDCWD, file.c_str(), O_CLOEXEC) == 4);
        REQUIRE(syscall(SYS_open_tree, 99, "nowhere", 0) < 0);
        void* const memory = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0);
        REQUIRE(memory != MAP_FAILED);
        REQUIRE(syscall(SYS_remap_file_pages, memory, 4096, 0, 1, 0) == 0);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/data "~/data" O_RDWR size=10 {"dfd":"AT_FDCWD","flags":"O_RDWR","mode":"000"}
        open_tree metadata =4 fd=4 #1 file ~/data "~/data" O_RDONLY|O_PATH size=10 {"dfd":"AT_FDCWD","flags":"OPEN_TREE_CLOEXEC"}
        open_tree metadata =EBADF nowhere "nowhere" {"dfd":99,"flags":"0"}
        mmap memory =0x* fd=3 #1 file ~/data O_RDWR @0 size=10 -/8192 {"addr":"0x0","len":8192,"prot":"PROT_READ|PROT_WRITE","flags":"MAP_SHARED","off":0}
        remap_file_pages memory =0 -/4096 {"start":"0x*","size":4096,"prot":"PROT_NONE","pgoff":1,"flags":"0"}
    )"));
}

}  // namespace
}  // namespace dyetrace::test
