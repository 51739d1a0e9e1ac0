// Calls of which only name, arguments and result are known; calls that this kernel does not know; calls that seccomp denies.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "kernel/rows.h"

namespace dyetrace::test {
namespace {

class Undecoded : public RowsTest {
  protected:
    // Lets `number` fail with EACCES before it begins.
    static void deny(unsigned int number) {
        std::array program = {
            sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
            sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
            sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
            sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
        const sock_fprog filter = {program.size(), program.data()};
        REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
        REQUIRE(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0);
    }
};

TEST_F(Undecoded, the_name_the_arguments_and_the_result) {
    ASSERT_EQ(setpriority(PRIO_PROCESS, 0, 0), 0);  // at whatever the tests run
    const std::string shown = rows([&] {
        utsname name;
        char bytes[4];
        REQUIRE(uname(&name) == 0);
        REQUIRE(sched_yield() == 0);
        REQUIRE(syscall(SYS_getrandom, bytes, 4, 1) == 4);
        REQUIRE(syscall(SYS_getpriority, 0, 0) == 20);
        REQUIRE(syscall(SYS_msgget, -5, 0) < 0);
        REQUIRE(syscall(SYS_timer_delete, 77) < 0);
    });
    EXPECT_EQ(shown, lines(R"(
        uname other =0
        sched_yield other =0
        getrandom other =4 {"len":4,"flags":"GRND_NONBLOCK"}
        getpriority other =20 {"which":"PRIO_PROCESS","who":0}
        msgget other =ENOENT {"key":-5,"msgflg":0}
        timer_delete other =EINVAL {"timer_id":77}
    )"));
}

TEST_F(Undecoded, a_number_that_nobody_knows) {
    const Trace trace = record([] {
        REQUIRE(syscall(511, 1, 2, 3, 4, 5, 6) < 0);
        REQUIRE(syscall(999, 1, 2, 3, 4, 5, 6) < 0);
        REQUIRE(syscall(-1, 1, 2, 3, 4, 5, 6) < 0);
    });
    ASSERT_GE(trace.events().size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        const Event& event = trace.events()[i];
        EXPECT_EQ(event.error(), "ENOSYS");
        EXPECT_EQ(event.event_class(), schema::Class::kOther);
        EXPECT_EQ(event.argument(5), 6);
    }
    EXPECT_EQ(trace.events()[0].name(), "call_511");
    EXPECT_EQ(trace.events()[1].name(), "call_999");
    EXPECT_EQ(trace.events()[2].name(), "call_65535");
}

TEST_F(Undecoded, a_denied_call_has_its_arguments_and_no_duration) {
    const std::string file = make_file("data", "123");
    const Trace trace = record([&] {
        REQUIRE(open(file.c_str(), O_RDWR) == 3);
        deny(SYS_write);
        REQUIRE(write(3, "abc", 3) < 0 && errno == EACCES);
        deny(SYS_openat);
        REQUIRE(open(file.c_str(), O_WRONLY) < 0);
    });
    const Event write = trace.only("write");
    EXPECT_TRUE(write.entry_missed());
    EXPECT_EQ(write.duration_ns(), std::nullopt);
    EXPECT_EQ(rows(trace), lines(R"(
        openat file =3 fd=3 #1 file ~/data "~/data" O_RDWR size=3 {"dfd":"AT_FDCWD","flags":"O_RDWR","mode":"000"}
        prctl process =0 {"option":"PR_SET_NO_NEW_PRIVS","arg2":1,"arg3":0,"arg4":0,"arg5":0}
        seccomp other =0 {"op":1,"flags":0}
        write file =EACCES fd=3 #1 file ~/data O_RDWR @0 size=3 -/3 {"count":3}
        prctl process =0 {"option":"PR_SET_NO_NEW_PRIVS","arg2":1,"arg3":0,"arg4":0,"arg5":0}
        seccomp other =0 {"op":1,"flags":0}
        openat file =EACCES ~/data "~/data" {"dfd":"AT_FDCWD","flags":"O_WRONLY","mode":"000"}
    )"));
}

}  // namespace
}  // namespace dyetrace::test
