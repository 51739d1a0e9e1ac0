// Calls whose arguments point to structures, as their lines show them.
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <net/if.h>
#include <sys/wait.h>

#include <array>
#include <csignal>

#include "format/test_events.h"

namespace dyetrace::format {
namespace {

using Words = std::array<std::uint64_t, 4>;

TEST(Structures, of_signal_actions) {
    const std::string handler = bytes_of(Words{0x7000, 0x14000004, 0x8000, 1u << 16});
    EXPECT_EQ(
        Call("rt_sigaction")
            .arguments({17, 0x1000, 0x2000, 8})
            .result(0)
            .structure(1, handler)
            .structure(2, bytes_of(Words{1, 0, 0, 0}))
            .line(kTight),
        "rt_sigaction(SIGCHLD, {sa_handler=0x7000, sa_mask=[CHLD], "
        "sa_flags=SA_RESTORER|SA_RESTART|SA_SIGINFO, sa_restorer=0x8000}, {sa_handler=SIG_IGN, "
        "sa_mask=[], sa_flags=0}, 8) = 0");
    EXPECT_EQ(Call("rt_sigaction")
                  .arguments({9, 0x1000, 0x2000, 8})
                  .result(-22)
                  .structure(1, handler.substr(0, 31))
                  .structure(2, handler)
                  .line(kTight),
              "rt_sigaction(SIGKILL, 0x1000, 0x2000, 8) = -1 EINVAL (Invalid argument)");
}

TEST(Structures, of_sets_of_signals_name_the_few) {
    const auto line = [](std::uint64_t set) {
        return Call("rt_sigprocmask")
            .arguments({0, 0x1000, 0, 8})
            .result(0)
            .structure(1, bytes_of(set))
            .line(kTight);
    };
    EXPECT_EQ(line(0), "rt_sigprocmask(SIG_BLOCK, [], NULL, 8) = 0");
    EXPECT_EQ(line(0x200000002), "rt_sigprocmask(SIG_BLOCK, [INT RT_2], NULL, 8) = 0");
    EXPECT_EQ(line(~std::uint64_t{0x100}), "rt_sigprocmask(SIG_BLOCK, ~[KILL], NULL, 8) = 0");
}

// Memory beside them keeps what was there.
TEST(Structures, hold_no_more_than_the_call_writes) {
    const auto pending = [](std::uint64_t size) {
        return Call("rt_sigpending")
            .arguments({0x1000, size})
            .result(0)
            .structure(0, std::string("\x02\0\0\0OLD!", 8))
            .line(kTight);
    };
    EXPECT_EQ(pending(0), "rt_sigpending(0x1000, 0) = 0");
    EXPECT_EQ(pending(1), "rt_sigpending([INT], 1) = 0");
    EXPECT_EQ(pending(4), "rt_sigpending([INT], 4) = 0");
    EXPECT_EQ(pending(5), "rt_sigpending([INT RT_1 RT_2 RT_3 RT_4 RT_7], 5) = 0");

    using Halves = std::array<std::uint32_t, 6>;
    const auto capabilities = [](std::uint32_t version) {
        return Call("capget")
            .arguments({0x1000, 0x2000})
            .result(0)
            .structure(0, bytes_of(std::array<std::uint32_t, 2>{version, 0}))
            .structure(1, bytes_of(Halves{1, 0, 0, 1, 1, 1}))
            .line(kTight);
    };
    EXPECT_EQ(capabilities(0x19980330),
              "capget({version=_LINUX_CAPABILITY_VERSION_1, pid=0}, {effective=1<<CAP_CHOWN, "
              "permitted=0, inheritable=0}) = 0");
    EXPECT_EQ(capabilities(0x20080522),
              "capget({version=_LINUX_CAPABILITY_VERSION_3, pid=0}, "
              "{effective=1<<CAP_CHOWN|1<<CAP_MAC_OVERRIDE, permitted=1<<CAP_MAC_OVERRIDE, "
              "inheritable=1<<CAP_MAC_OVERRIDE}) = 0");
}

TEST(Structures, of_usage_are_of_a_child_that_was_waited_for) {
    const std::string old(144, 'O');
    const auto wait = [&](std::uint64_t options, int signal) {
        std::string info(128, '\0');
        info[0] = static_cast<char>(signal);
        const std::string line = Call("waitid")
                                     .arguments({0, 0, 0x1000, options, 0x2000})
                                     .result(0)
                                     .structure(2, info)
                                     .structure(4, old)
                                     .line(kTight);
        return line.substr(line.rfind(", "));
    };
    EXPECT_EQ(wait(WNOHANG | WEXITED, 0), ", 0x2000) = 0");
    EXPECT_EQ(wait(WNOHANG | WEXITED, SIGCHLD), ", ...}) = 0");
    EXPECT_EQ(Call("waitid")
                  .arguments({0, 0, 0, WNOHANG | WEXITED, 0x2000})
                  .result(0)
                  .structure(4, old)
                  .line(kTight),
              "waitid(P_ALL, 0, NULL, WNOHANG|WEXITED, 0x2000) = 0");
}

TEST(Structures, of_new_tasks) {
    constexpr std::uint64_t kFlags = CLONE_VM | CLONE_SETTLS | CLONE_PARENT_SETTID;
    const std::array<std::uint64_t, 11> args{kFlags, 0, 0x10, 0x20, 0, 0x30, 0x40, 0x50};
    EXPECT_EQ(Call("clone3")
                  .arguments({0x1000, 88})
                  .result(4712)
                  .structure(0, bytes_of(args))
                  .line(kTight),
              "clone3({flags=CLONE_VM|CLONE_SETTLS|CLONE_PARENT_SETTID, parent_tid=0x20, "
              "exit_signal=0, stack=0x30, stack_size=0x40, tls=0x50} => {parent_tid=[4712]}, 88) "
              "= 4712");
    const auto with_size = [&](std::uint64_t size) {
        return Call("clone3")
            .arguments({0x1000, size})
            .result(-22)
            .structure(0, bytes_of(std::array<std::uint64_t, 11>{CLONE_INTO_CGROUP, 0, 0, 0, 9}))
            .line(kTight);
    };
    EXPECT_EQ(with_size(8), "clone3(0x1000, 8) = -1 EINVAL (Invalid argument)");
    EXPECT_EQ(
        with_size(64),
        "clone3({flags=CLONE_INTO_CGROUP, exit_signal=SIGKILL, stack=NULL, stack_size=0}, 64) = "
        "-1 EINVAL (Invalid argument)");
    const std::initializer_list<std::uint64_t> registers{
        CLONE_CHILD_SETTID | CLONE_SETTLS | 17, 0, 0x1000, 0x2000, 0x3000};
    EXPECT_EQ(Call("clone").arguments(registers).result(5).line(kTight),
              "clone(child_stack=NULL, flags=CLONE_SETTLS|CLONE_CHILD_SETTID|SIGCHLD, tls=0x3000, "
              "child_tidptr=0x2000) = 5");
    EXPECT_EQ(Call("clone", schema::Abi::kI386).arguments(registers).result(5).line(kTight),
              "clone(child_stack=NULL, flags=CLONE_SETTLS|CLONE_CHILD_SETTID|SIGCHLD, tls=0x2000, "
              "child_tidptr=0x3000) = 5");
}

TEST(Structures, of_ioctl_follow_the_request) {
    const auto call = [](std::uint64_t request, std::int64_t result, const std::string& bytes) {
        return Call("ioctl")
            .arguments({3, request, 0x1000})
            .result(result)
            .structure(2, bytes)
            .line(kTight);
    };
    EXPECT_EQ(call(0x541b, 0, bytes_of(5)), "ioctl(3, FIONREAD, [5]) = 0");
    EXPECT_EQ(call(0x541b, -25, bytes_of(5)),
              "ioctl(3, FIONREAD, 0x1000) = -1 ENOTTY (Inappropriate ioctl for device)");
    EXPECT_EQ(call(0x5413, 0, bytes_of(std::array<std::uint16_t, 4>{24, 80, 0, 0})),
              "ioctl(3, TIOCGWINSZ, {ws_row=24, ws_col=80, ws_xpixel=0, ws_ypixel=0}) = 0");
    EXPECT_EQ(Call("ioctl").arguments({3, 0x5451}).result(0).line(kTight), "ioctl(3, FIOCLEX) = 0");
    EXPECT_EQ(call(0x80081277, 0, ""), "ioctl(3, _IOC(_IOC_READ, 0x12, 0x77, 0x8), 0x1000) = 0");
    ifreq interface {};
    interface.ifr_name[0] = 'l';
    interface.ifr_name[1] = 'o';
    interface.ifr_flags = IFF_UP | IFF_LOOPBACK;
    EXPECT_EQ(call(0x8913, 0, bytes_of(interface)),
              R"(ioctl(3, SIOCGIFFLAGS, {ifr_name="lo", ifr_flags=IFF_UP|IFF_LOOPBACK}) = 0)");
    EXPECT_EQ(call(0x8913, -19, bytes_of(interface)),
              R"(ioctl(3, SIOCGIFFLAGS, {ifr_name="lo"}) = -1 ENODEV (No such device))");
}

TEST(Structures, of_prctl_follow_the_option) {
    EXPECT_EQ(Call("prctl").arguments({1, 15, 9, 9, 9}).result(0).line(kTight),
              "prctl(PR_SET_PDEATHSIG, SIGTERM) = 0");
    EXPECT_EQ(Call("prctl").arguments({15, 0x1000}).result(0).preview(1, "worker").line(kTight),
              R"(prctl(PR_SET_NAME, "worker") = 0)");
    EXPECT_EQ(Call("prctl").arguments({3, 9, 9}).result(1).line(kTight),
              "prctl(PR_GET_DUMPABLE) = 1");
    EXPECT_EQ(Call("prctl").arguments({38, 1, 0, 0, 0}).result(0).line(kTight),
              "prctl(PR_SET_NO_NEW_PRIVS, 0x1, 0, 0, 0) = 0");
}

TEST(Structures, of_random_bytes_and_processors) {
    const Call random =
        Call("getrandom").arguments({0x1000, 40, 1}).result(40).preview(0, "a\x01\xff");
    EXPECT_EQ(LineStyle{}.limits.text_max, 32u);
    EXPECT_EQ(random.line(kTight), R"(getrandom("\x61\x01\xff"..., 40, GRND_NONBLOCK) = 40)");
    EXPECT_EQ(Call("sched_getaffinity")
                  .arguments({0, 128, 0x1000})
                  .result(8)
                  .preview(2, std::string("\x05\0\0\0\0\0\0\x80", 8))
                  .line(kTight),
              "sched_getaffinity(0, 128, [0 2 63]) = 8");
}

TEST(Structures, that_are_cut_are_addresses) {
    for (const std::string_view name : {"uname", "sysinfo"}) {
        for (const std::size_t bytes : {0u, 1u, 64u}) {
            EXPECT_EQ(Call(name)
                          .arguments({0x1000})
                          .result(0)
                          .structure(0, std::string(bytes, '\0'))
                          .line(kTight),
                      std::string(name) + "(0x1000) = 0");
        }
    }
}

}  // namespace
}  // namespace dyetrace::format
