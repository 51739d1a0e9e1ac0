// sendfile, copy_file_range, splice, tee, vmsplice: two objects, two ranges.
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "kernel/rows.h"

namespace dyetrace::test {
namespace {

class Copy : public RowsTest {
  protected:
    void SetUp() override {
        RowsTest::SetUp();
        if (!IsSkipped() && !HasFailure()) {
            from_ = make_file("from", "0123456789");
            to_ = make_file("to", "abcdef");
        }
    }
    std::string from_, to_;
};

TEST_F(Copy, sendfile_reads_and_writes_a_range) {
    const std::string shown = rows([&] {
        REQUIRE(open(from_.c_str(), O_RDONLY) == 3);
        REQUIRE(open(to_.c_str(), O_RDWR) == 4);
        REQUIRE(lseek(4, 2, SEEK_SET) == 2);
        REQUIRE(lseek(3, 1, SEEK_SET) == 1);
        REQUIRE(sendfile(4, 3, nullptr, 3) == 3);
        off_t offset = 7;
        REQUIRE(sendfile(4, 3, &offset, 100) == 3);
        REQUIRE(sendfile(4, 3, &offset, 100) == 0);
        REQUIRE(sendfile(4, 99, nullptr, 3) < 0);
        REQUIRE(sendfile(3, 4, nullptr, 3) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/from "~/from" O_RDONLY size=10 {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
        openat file =4 fd=4 #2 file ~/to "~/to" O_RDWR size=6 {"dfd":"AT_FDCWD","flags":"O_RDWR","mode":"000"}
        lseek file =2 fd=4 #2 file ~/to O_RDWR size=6 {"offset":2,"whence":"SEEK_SET"}
        lseek file =1 fd=3 #1 file ~/from O_RDONLY size=10 {"offset":1,"whence":"SEEK_SET"}
        sendfile file =3 fd=4 #2 file ~/to O_RDWR @2 size=6 3/3 => #1 ~/from @1 {"in_fd":3,"count":3}
        sendfile file =3 fd=4 #2 file ~/to O_RDWR @5 size=8 3/100 => #1 ~/from @7 {"in_fd":3,"count":100}
        sendfile file =0 fd=4 #2 file ~/to O_RDWR @8 size=8 0/100 => #1 ~/from @10 {"in_fd":3,"count":100}
        sendfile file =EBADF fd=4 #2 file ~/to O_RDWR @8 size=8 -/3 {"in_fd":99,"count":3}
        sendfile file =EBADF fd=3 #1 file ~/from O_RDONLY @4 size=10 -/3 => #2 ~/to @8 {"in_fd":4,"count":3}
    )"));
}

TEST_F(Copy, sendfile_to_a_socket) {
    const std::string shown = rows([&] {
        int ends[2];
        REQUIRE(open(from_.c_str(), O_RDONLY) == 3);
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
        REQUIRE(sendfile(4, 3, nullptr, 5) == 5);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/from "~/from" O_RDONLY size=10 {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
        socketpair network =0 fd=4 #2 socket [sockfs] socket:[N] O_RDWR => #3 socket:[N] {"family":"AF_UNIX","type":"SOCK_STREAM","protocol":0}
        sendfile network =5 fd=4 #2 socket [sockfs] socket:[N] O_RDWR 5/5 => #1 ~/from @0 {"in_fd":3,"count":5}
    )"));
}

TEST_F(Copy, copy_file_range_has_both_ranges) {
    const std::string shown = rows([&] {
        REQUIRE(open(from_.c_str(), O_RDONLY) == 3);
        REQUIRE(open(to_.c_str(), O_RDWR) == 4);
        off_t in = 5, out = 20;
        REQUIRE(copy_file_range(3, nullptr, 4, nullptr, 4, 0) == 4);
        REQUIRE(copy_file_range(3, &in, 4, &out, 3, 0) == 3);
        REQUIRE(copy_file_range(3, &in, 4, nullptr, 100, 0) == 2);
        REQUIRE(copy_file_range(3, nullptr, 4, &out, 100, 0) == 6);
        REQUIRE(copy_file_range(3, &in, 4, &out, 100, 77) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        openat file =3 fd=3 #1 file ~/from "~/from" O_RDONLY size=10 {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
        openat file =4 fd=4 #2 file ~/to "~/to" O_RDWR size=6 {"dfd":"AT_FDCWD","flags":"O_RDWR","mode":"000"}
        copy_file_range file =4 fd=3 #1 file ~/from O_RDONLY @0 size=10 4/4 => #2 ~/to @0 {"fd_out":4,"len":4,"flags":0}
        copy_file_range file =3 fd=3 #1 file ~/from O_RDONLY @5 size=10 3/3 => #2 ~/to @20 {"fd_out":4,"len":3,"flags":0}
        copy_file_range file =2 fd=3 #1 file ~/from O_RDONLY @8 size=10 2/100 => #2 ~/to @4 {"fd_out":4,"len":100,"flags":0}
        copy_file_range file =6 fd=3 #1 file ~/from O_RDONLY @4 size=10 6/100 => #2 ~/to @23 {"fd_out":4,"len":100,"flags":0}
        copy_file_range file =EINVAL fd=3 #1 file ~/from O_RDONLY @10 size=10 -/100 => #2 ~/to @29 {"fd_out":4,"len":100,"flags":77}
    )"));
}

TEST_F(Copy, splice_and_tee_move_through_pipes) {
    const std::string shown = rows([&] {
        int ends[2];
        iovec part = {const_cast<char*>("vm"), 2};
        REQUIRE(pipe(ends) == 0);
        REQUIRE(pipe(ends) == 0);
        REQUIRE(open(from_.c_str(), O_RDONLY) == 7);
        REQUIRE(open(to_.c_str(), O_RDWR) == 8);
        off_t in = 2, out = 9;
        REQUIRE(splice(7, &in, 4, nullptr, 3, SPLICE_F_MOVE) == 3);
        REQUIRE(splice(7, nullptr, 4, nullptr, 2, 0) == 2);
        REQUIRE(tee(3, 6, 100, SPLICE_F_NONBLOCK) == 5);
        REQUIRE(splice(3, nullptr, 8, &out, 3, 0) == 3);
        REQUIRE(splice(3, nullptr, 8, nullptr, 100, 0) == 2);
        REQUIRE(splice(5, nullptr, 4, nullptr, 100, 0) == 5);
        REQUIRE(vmsplice(4, &part, 1, SPLICE_F_GIFT) == 2);
        REQUIRE(splice(7, nullptr, 8, nullptr, 2, 0) < 0);
        REQUIRE(tee(7, 4, 1, 0) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        pipe2 pipe =0 fd=3 #1 pipe [pipefs] pipe:[N] O_RDONLY => #1 pipe:[N] {"flags":"0"}
        pipe2 pipe =0 fd=5 #2 pipe [pipefs] pipe:[N] O_RDONLY => #2 pipe:[N] {"flags":"0"}
        openat file =7 fd=7 #3 file ~/from "~/from" O_RDONLY size=10 {"dfd":"AT_FDCWD","flags":"O_RDONLY","mode":"000"}
        openat file =8 fd=8 #4 file ~/to "~/to" O_RDWR size=6 {"dfd":"AT_FDCWD","flags":"O_RDWR","mode":"000"}
        splice file =3 fd=7 #3 file ~/from O_RDONLY @2 size=10 3/3 => #1 pipe:[N] {"fd_out":4,"len":3,"flags":"SPLICE_F_MOVE"}
        splice file =2 fd=7 #3 file ~/from O_RDONLY @0 size=10 2/2 => #1 pipe:[N] {"fd_out":4,"len":2,"flags":"0"}
        tee pipe =5 fd=3 #1 pipe [pipefs] pipe:[N] O_RDONLY 5/100 => #2 pipe:[N] {"fdout":6,"len":100,"flags":"SPLICE_F_NONBLOCK"}
        splice pipe =3 fd=3 #1 pipe [pipefs] pipe:[N] O_RDONLY 3/3 => #4 ~/to @9 {"fd_out":8,"len":3,"flags":"0"}
        splice pipe =2 fd=3 #1 pipe [pipefs] pipe:[N] O_RDONLY 2/100 => #4 ~/to @0 {"fd_out":8,"len":100,"flags":"0"}
        splice pipe =5 fd=5 #2 pipe [pipefs] pipe:[N] O_RDONLY 5/100 => #1 pipe:[N] {"fd_out":4,"len":100,"flags":"0"}
        vmsplice pipe =2 fd=4 #1 pipe [pipefs] pipe:[N] O_WRONLY 2/2 {"nr_segs":1,"flags":"SPLICE_F_GIFT"}
        splice file =EINVAL fd=7 #3 file ~/from O_RDONLY @2 size=10 -/2 => #4 ~/to @2 {"fd_out":8,"len":2,"flags":"0"}
        tee file =EINVAL fd=7 #3 file ~/from O_RDONLY size=10 -/1 => #1 pipe:[N] {"fdout":4,"len":1,"flags":"0"}
    )"));
}

}  // namespace
}  // namespace dyetrace::test
