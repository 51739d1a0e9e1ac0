// mmap, munmap, mprotect, pkey_mprotect, mremap, madvise, mlock, munlock, brk; msync.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/rows.h"

namespace dyetrace::test {
namespace {

class Memory : public RowsTest {};

TEST_F(Memory, msync_has_the_file_that_is_mapped) {
    const std::string file = make_file("data", "0123456789");
    const std::string shown = rows([&] {
        REQUIRE(open(file.c_str(), O_RDWR) == 3);
        void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0);
        REQUIRE(memory != MAP_FAILED);
        REQUIRE(msync(memory, 4096, MS_SYNC) == 0);
        REQUIRE(msync(memory, 4096, MS_SYNC | MS_ASYNC) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/data "~/data" O_RDWR size=10 {"dfd":"AT_FDCWD","flags":"O_RDWR","mode":"000"}
        mmap memory =0x* fd=3 #1 file ~/data O_RDWR @0 size=10 -/4096 {"addr":"0x0","len":4096,"prot":"PROT_READ|PROT_WRITE","flags":"MAP_SHARED","off":0}
        msync memory =0 #1 file ~/data O_RDWR @0 -/4096 {"start":"0x*","len":4096,"flags":"MS_SYNC"}
        msync memory =EINVAL #1 file ~/data O_RDWR @0 -/4096 {"start":"0x*","len":4096,"flags":"MS_SYNC|MS_ASYNC"}
    )"));
}

TEST_F(Memory, a_mapping_names_its_file_and_range) {
    const std::string file = make_file("data", std::string(12288, 'x'));
    const std::string shown = rows([&] {
        REQUIRE(open(file.c_str(), O_RDWR) == 3);
        void* memory =
            mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, 3, 4096);
        REQUIRE(memory != MAP_FAILED);
        REQUIRE(mprotect(memory, 4096, PROT_NONE) == 0);
        REQUIRE(
            syscall(SYS_pkey_mprotect, static_cast<char*>(memory) + 4096, 4096, PROT_READ, -1) ==
            0);
        REQUIRE(madvise(memory, 8192, MADV_DONTNEED) == 0);
        REQUIRE(mlock(static_cast<char*>(memory) + 4096, 4096) == 0);
        REQUIRE(munlock(static_cast<char*>(memory) + 4096, 4096) == 0);
        REQUIRE(munmap(memory, 8192) == 0);
        memory = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        REQUIRE(memory != MAP_FAILED);
        memory = mremap(memory, 4096, 16384, MREMAP_MAYMOVE);
        REQUIRE(memory != MAP_FAILED);
        REQUIRE(mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, 3, 1) == MAP_FAILED);
        REQUIRE(mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, 99, 0) == MAP_FAILED);
        REQUIRE(munmap(memory, 0) < 0);
        REQUIRE(mprotect(memory, 4096, PROT_READ | PROT_WRITE) == 0);
        REQUIRE(syscall(SYS_brk, 0) != 0);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/data "~/data" O_RDWR size=12288 {"dfd":"AT_FDCWD","flags":"O_RDWR","mode":"000"}
        mmap memory =0x* fd=3 #1 file ~/data O_RDWR @4096 size=12288 -/8192 {"addr":"0x0","len":8192,"prot":"PROT_READ|PROT_WRITE","flags":"MAP_SHARED|MAP_POPULATE","off":4096}
        mprotect memory =0 #1 file ~/data O_RDWR @4096 -/4096 {"start":"0x*","len":4096,"prot":"PROT_NONE"}
        pkey_mprotect memory =0 #1 file ~/data O_RDWR @8192 -/4096 {"start":"0x*","len":4096,"prot":"PROT_READ","pkey":-1}
        madvise memory =0 -/8192 {"start":"0x*","len":8192,"behavior":"MADV_DONTNEED"}
        mlock memory =0 -/4096 {"start":"0x*","len":4096}
        munlock memory =0 -/4096 {"start":"0x*","len":4096}
        munmap memory =0 #1 file ~/data O_RDWR @4096 -/8192 {"addr":"0x*","len":8192}
        mmap memory =0x* fd=-1 -/4096 {"addr":"0x0","len":4096,"prot":"PROT_READ","flags":"MAP_PRIVATE|MAP_ANONYMOUS","off":0}
        mremap memory =0x* {"addr":"0x*","old_len":4096,"new_len":16384,"flags":"MREMAP_MAYMOVE","new_addr":"0x0"}
        mmap memory =EBADF fd=99 -/4096 {"addr":"0x0","len":4096,"prot":"PROT_READ","flags":"MAP_PRIVATE","off":0}
        munmap memory =EINVAL -/0 {"addr":"0x*","len":0}
        mprotect memory =0 -/4096 {"start":"0x*","len":4096,"prot":"PROT_READ|PROT_WRITE"}
        brk memory =0x* {"brk":"0x0"}
    )"));
}

}  // namespace
}  // namespace dyetrace::test
