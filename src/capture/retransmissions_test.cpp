#include "capture/retransmissions.h"

#include <gtest/gtest.h>

#include <memory>

#include "schema/generated/syscalls.bpf.h"
// the skeleton uses the types above
#include "kernel/dyetrace.skel.h"

namespace dyetrace::capture {
namespace {

struct Closes {
    void operator()(dyetrace_bpf* skeleton) const { dyetrace_bpf__destroy(skeleton); }
};

TEST(Retransmissions, a_kernel_that_does_not_tell_is_named) {
    const std::unique_ptr<dyetrace_bpf, Closes> skeleton(dyetrace_bpf__open());
    ASSERT_NE(skeleton, nullptr);
    Retransmissions retransmissions;
    KernelSupport old;
    old.tcp_retransmit_skb = false;
    retransmissions.prepare(*skeleton, {.watch_retransmissions = true}, old, 1);
    const auto source = retransmissions.attach(*skeleton, false);
    ASSERT_TRUE(source);
    EXPECT_EQ(source->name, "retransmissions");
    EXPECT_EQ(source->state, schema::CoverageState::kOff);
    EXPECT_EQ(source->reason,
              "this kernel has no tracepoint tcp_retransmit_skb; what TCP sends again is not "
              "recorded");
}

TEST(Retransmissions, who_does_not_ask_is_told_nothing) {
    const std::unique_ptr<dyetrace_bpf, Closes> skeleton(dyetrace_bpf__open());
    ASSERT_NE(skeleton, nullptr);
    Retransmissions retransmissions;
    KernelSupport support;
    support.tcp_retransmit_skb = true;
    retransmissions.prepare(*skeleton, {}, support, 1);
    EXPECT_FALSE(retransmissions.attach(*skeleton, false));
    EXPECT_FALSE(skeleton->rodata->watch_retransmissions);
}

}  // namespace
}  // namespace dyetrace::capture
