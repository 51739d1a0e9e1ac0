#include "format/pid_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cstring>
#include <vector>

#include "format/test_events.h"

namespace dyetrace::format {
namespace {

constexpr std::uint32_t kOurs = 4026531836, kInner = 4026532001;
constexpr PidStyle kNames{.names = true, .namespace_ = kOurs};
constexpr PidStyle kTranslation{.translation = true, .namespace_ = kOurs};
constexpr PidStyle kBoth{.names = true, .translation = true, .namespace_ = kOurs};

void add_number(schema::Dictionary& known,
                std::uint32_t tid,
                std::uint32_t pid_namespace,
                std::uint32_t number,
                std::string_view comm,
                std::uint64_t time_ns) {
    schema::ThreadNumber record{};
    record.time_ns = time_ns;
    record.tid = tid;
    record.pid_namespace = pid_namespace;
    record.number = number;
    std::memcpy(record.comm, comm.data(), comm.size());
    known.add(schema::build(record).bytes());
}

// Task 7 calls: thread 12345, in its namespace 5. Beside it is 12346, there 6, which is called `cat` from 100 on.
schema::Dictionary namespaces(std::uint32_t namespace_of_caller = kInner) {
    schema::Dictionary known;
    schema::TaskContext task{};
    task.context_id = 7;
    task.pid = task.tid = 12345;
    task.pid_namespace = namespace_of_caller;
    known.add(schema::build(task).bytes());
    for (const std::uint32_t tid : {12345u, 12346u}) {
        add_number(known, tid, kOurs, tid, "sh", 10);
        add_number(known, tid, kInner, tid - 12340, "sh", 10);
    }
    add_number(known, 12346, kOurs, 12346, "cat", 100);
    return known;
}

std::string shown(const Call& call, const PidStyle& pids, const schema::Dictionary& known) {
    return call.line({.pids = pids, .result_column = 1}, known);
}

TEST(PidText, says_what_was_asked_for) {
    const auto known = namespaces();
    const Call call = Call("tgkill").arguments({5, 6, 10}).result(0).took(50, 1);
    EXPECT_EQ(shown(call, {}, known), "tgkill(5, 6, SIGUSR1) = 0");
    EXPECT_EQ(shown(call, kNames, known), "tgkill(5<sh>, 6<sh>, SIGUSR1) = 0");
    EXPECT_EQ(shown(call, kTranslation, known),
              "tgkill(5 /* 12345 in strace's PID NS */, 6 /* 12346 in strace's PID NS */, SIGUSR1) "
              "= 0");
    EXPECT_EQ(shown(Call("tgkill").arguments({5, 6, 10}).result(0).took(200, 1), kBoth, known),
              "tgkill(5<sh> /* 12345 in strace's PID NS */, 6<cat> /* 12346 in strace's PID NS */, "
              "SIGUSR1) = 0");
}

TEST(PidText, a_number_is_one_of_the_caller_s_namespace) {
    const auto known = namespaces(kOurs);
    EXPECT_EQ(shown(Call("kill").arguments({12346, 10}).result(0).took(200, 1), kBoth, known),
              "kill(12346<cat>, SIGUSR1) = 0");
    EXPECT_EQ(shown(Call("kill").arguments({6, 10}).result(-3), kBoth, known),
              "kill(6, SIGUSR1) = -1 ESRCH (No such process)");
    EXPECT_EQ(shown(Call("getpid").result(5), kBoth, schema::Dictionary()), "getpid() = 5");
}

TEST(PidText, groups_have_no_name_and_nobody_has_no_number) {
    const auto known = namespaces();
    EXPECT_EQ(
        shown(Call("kill").arguments({static_cast<std::uint64_t>(-5), 10}).result(0), kBoth, known),
        "kill(-5 /* 12345 in strace's PID NS */, SIGUSR1) = 0");
    for (const std::int64_t nobody : {0, -1}) {
        EXPECT_EQ(shown(Call("kill").arguments({static_cast<std::uint64_t>(nobody), 10}).result(0),
                        kBoth,
                        known),
                  fmt::format("kill({}, SIGUSR1) = 0", nobody));
    }
    EXPECT_EQ(shown(Call("setpgid").arguments({5, 5}).result(0), kNames, known),
              "setpgid(5<sh>, 5) = 0");
    EXPECT_EQ(shown(Call("getpgid").arguments({5}).result(6), kTranslation, known),
              "getpgid(5 /* 12345 in strace's PID NS */) = 6 /* 12346 in strace's PID NS */");
}

TEST(PidText, what_a_number_is_may_stand_in_the_argument_before_it) {
    const auto known = namespaces();
    EXPECT_EQ(shown(Call("getpriority").arguments({PRIO_PROCESS, 5}).result(20), kNames, known),
              "getpriority(PRIO_PROCESS, 5<sh>) = 20");
    EXPECT_EQ(shown(Call("getpriority").arguments({PRIO_PGRP, 5}).result(20), kBoth, known),
              "getpriority(PRIO_PGRP, 5 /* 12345 in strace's PID NS */) = 20");
    EXPECT_EQ(shown(Call("getpriority").arguments({PRIO_USER, 5}).result(20), kBoth, known),
              "getpriority(PRIO_USER, 5) = 20");
    EXPECT_EQ(shown(Call("waitid").arguments({P_PID, 6, 0, WEXITED, 0}).result(0), kNames, known),
              "waitid(P_PID, 6<sh>, NULL, WEXITED, NULL) = 0");
}

TEST(PidText, is_in_results_structures_and_signals_too) {
    const auto known = namespaces();
    EXPECT_EQ(shown(Call("fork").result(6), kNames, known), "fork() = 6<sh>");
    EXPECT_EQ(shown(Call("fcntl").arguments({0, 9}).result(6), kTranslation, known),
              "fcntl(0, F_GETOWN) = 6 /* 12346 in strace's PID NS */");
    const struct ucred peer { 6, 0, 0 };
    EXPECT_EQ(shown(Call("getsockopt")
                        .arguments({3, SOL_SOCKET, SO_PEERCRED, 0x7000, 0})
                        .result(0)
                        .structure(3, bytes_of(peer)),
                    kNames,
                    known),
              "getsockopt(3, SOL_SOCKET, SO_PEERCRED, {pid=6<sh>, uid=0, gid=0}, NULL) = 0");
    siginfo_t info{};
    info.si_signo = SIGUSR1;
    info.si_code = SI_QUEUE;
    info.si_errno = ENOENT;
    info.si_pid = 6;
    info.si_value.sival_ptr = reinterpret_cast<void*>(0xf00000001);
    EXPECT_EQ(shown(Call("rt_sigqueueinfo")
                        .arguments({5, SIGUSR1, 0x7000})
                        .result(0)
                        .structure(2, bytes_of(info)),
                    kNames,
                    known),
              "rt_sigqueueinfo(5<sh>, SIGUSR1, {si_signo=SIGUSR1, si_code=SI_QUEUE, "
              "si_errno=ENOENT, si_pid=6<sh>, si_uid=0, si_int=1, si_ptr=0xf00000001}) = 0");
    schema::SignalEvent signal{};
    signal.context_id = 7;
    signal.signal = SIGUSR1;
    signal.sender_pid = 6;
    signal.present = schema::SignalEvent::kHasCode | schema::SignalEvent::kHasSender;
    std::string out;
    LineWriter({.pids = kNames}, known).append(out, schema::build(signal).bytes());
    EXPECT_EQ(out, "--- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_USER, si_pid=6<sh>, si_uid=0} ---");
}

TEST(PidText, the_thread_in_front_has_its_name_then) {
    const auto known = namespaces();
    LineStyle style{.pids = kNames, .pid = true, .result_column = 1};
    const Call call = Call("getpid").result(5);
    EXPECT_EQ(call.line(style, known), "[pid 12345<sh>] getpid() = 5<sh>");
    style.pid_bare = true;
    EXPECT_EQ(call.line(style, known), "12345<sh> getpid() = 5<sh>");
    schema::Dictionary renamed = namespaces();
    add_number(renamed, 12345, kOurs, 12345, "a\033b<c>", 0);
    EXPECT_EQ(call.line(style, renamed), "12345<a\\33b\\74c\\76> getpid() = 5<a\\33b\\74c\\76>");
}

TEST(PidText, the_thread_in_front_has_the_number_that_dyetrace_sees) {
    const auto known = namespaces();
    const LineStyle style{
        .pids = {.namespace_ = kInner}, .pid = true, .pid_bare = true, .result_column = 1};
    EXPECT_EQ(Call("getpid").result(5).line(style, known), "5     getpid() = 5");
}

}  // namespace
}  // namespace dyetrace::format
