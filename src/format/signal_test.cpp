#include "format/signal.h"

#include <gtest/gtest.h>

#include <csignal>

#include "format/line.h"
#include "format/test_events.h"

namespace dyetrace::format {
namespace {

using schema::SignalEvent;

std::string line(SignalEvent event, std::uint32_t present) {
    event.present = present;
    std::string out;
    const schema::OwnedRecord record = schema::build(event);
    const schema::Dictionary nobody;
    EXPECT_TRUE(LineWriter({}, nobody).append(out, record.bytes()));
    return out;
}

constexpr std::uint32_t kSent = SignalEvent::kHasCode | SignalEvent::kHasSender;
constexpr std::uint32_t kFault = SignalEvent::kHasCode | SignalEvent::kHasAddress;

TEST(Signal, says_who_sent_it) {
    SignalEvent event{};
    event.signal = SIGUSR1;
    event.sender_pid = 4711;
    EXPECT_EQ(line(event, kSent),
              "--- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_USER, si_pid=4711, si_uid=0} ---");
    event.code = SI_TKILL;
    EXPECT_EQ(line(event, kSent),
              "--- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_TKILL, si_pid=4711, si_uid=0} ---");
    event.code = 77;
    EXPECT_EQ(line(event, SignalEvent::kHasCode), "--- SIGUSR1 {si_signo=SIGUSR1, si_code=77} ---");
    event.signal = SIGKILL;
    EXPECT_EQ(line(event, 0), "--- SIGKILL {si_signo=SIGKILL} ---");
}

TEST(Signal, shows_a_value_that_is_not_0) {
    SignalEvent event{};
    event.signal = SIGUSR1;
    event.code = SI_QUEUE;
    EXPECT_EQ(line(event, kSent | SignalEvent::kHasValue),
              "--- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_QUEUE, si_pid=0, si_uid=0} ---");
    event.value = 0xfffffffd;
    EXPECT_EQ(line(event, kSent | SignalEvent::kHasValue),
              "--- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_QUEUE, si_pid=0, si_uid=0, si_int=-3, "
              "si_ptr=0xfffffffd} ---");
    event.code = SI_TIMER;
    event.timer = 1;
    event.overrun = 2;
    event.value = 9;
    EXPECT_EQ(line(event, SignalEvent::kHasCode | SignalEvent::kHasTimer | SignalEvent::kHasValue),
              "--- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_TIMER, si_timerid=0x1, si_overrun=2, "
              "si_int=9, si_ptr=0x9} ---");
}

TEST(Signal, says_where_a_program_faulted) {
    SignalEvent event{};
    event.signal = SIGSEGV;
    event.code = SEGV_MAPERR;
    EXPECT_EQ(line(event, kFault),
              "--- SIGSEGV {si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=NULL} ---");
    event.address = 0x10;
    EXPECT_EQ(line(event, kFault),
              "--- SIGSEGV {si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=0x10} ---");
    event.code = SI_KERNEL;
    event.address = 0;
    EXPECT_EQ(line(event, SignalEvent::kHasCode),
              "--- SIGSEGV {si_signo=SIGSEGV, si_code=SI_KERNEL, si_addr=NULL} ---");
    event.signal = SIGSYS;
    event.code = 1;
    event.address = 0x10;
    EXPECT_EQ(line(event, kFault),
              "--- SIGSYS {si_signo=SIGSYS, si_code=SYS_SECCOMP, si_call_addr=0x10} ---");
}

TEST(Signal, says_how_a_child_ended) {
    SignalEvent event{};
    event.signal = SIGCHLD;
    event.code = CLD_EXITED;
    event.status = 9;
    event.user_ticks = 102;
    EXPECT_EQ(line(event, kSent | SignalEvent::kHasChild),
              "--- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=0, si_uid=0, si_status=9, "
              "si_utime=102 /* 1.02 s */, si_stime=0} ---");
    event.code = CLD_KILLED;
    event.user_ticks = 0;
    EXPECT_EQ(line(event, kSent | SignalEvent::kHasChild),
              "--- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_KILLED, si_pid=0, si_uid=0, "
              "si_status=SIGKILL, si_utime=0, si_stime=0} ---");
}

}  // namespace
}  // namespace dyetrace::format
