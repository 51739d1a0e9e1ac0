#include "capture/libbpf_log.h"

#include <gtest/gtest.h>

namespace dyetrace::capture {
namespace {

TEST(LibbpfLog, names_the_program_and_what_the_verifier_said_last) {
    EXPECT_EQ(verifier_refusal("libbpf: prog 'follow_poll': -- BEGIN PROG LOAD LOG --\n"
                               "0: R1=ctx() R10=fp0\n; ring += head;\n7: (0f) r3 += r4\n\n"
                               "R3 unbounded memory access\nprocessed 118 insns\n"
                               "-- END PROG LOAD LOG --\n"),
              "BPF program 'follow_poll': ; ring += head;; 7: (0f) r3 += r4; R3 unbounded memory "
              "access");
}

TEST(LibbpfLog, is_short_with_a_log_that_was_cut) {
    EXPECT_EQ(verifier_refusal("libbpf: prog 'a': -- BEGIN PROG LOAD LOG --\nR1 is bad"),
              "BPF program 'a': R1 is bad");
    EXPECT_EQ(verifier_refusal("prog 'a': -- BEGIN PROG LOAD LOG --\n"), "");
    EXPECT_EQ(verifier_refusal("prog 'a': -- BEGIN PROG LOAD LOG --\n-- END PROG LOAD LOG --"), "");
}

TEST(LibbpfLog, leaves_other_warnings_alone) {
    EXPECT_EQ(verifier_refusal("libbpf: failed to load object 'dyetrace_bpf'\n"), "");
}

}  // namespace
}  // namespace dyetrace::capture
