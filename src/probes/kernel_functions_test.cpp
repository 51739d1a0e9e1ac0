#include "probes/kernel_functions.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dyetrace::probes {
namespace {

const FunctionLists kLists{
    .available = "vfs_read\next9_open [ext9]\n__ftrace_invalid_address___12\n",
    .blacklist = "0xffffffff8100-0xffffffff8110\tdo_int3\n",
    .symbols =
        "ffffffff81000000 T vfs_read\n"
        "ffffffff81000010 t quiet_read\n"
        "ffffffff81000020 t do_int3\n"
        "ffffffff81000030 t small_read.isra.0\n"
        "ffffffff81000040 t small_read.constprop.0\n"
        "ffffffff81000050 d some_data\n"
        "ffffffff81000060 t __pfx_vfs_read\n"
        "ffffffff81000070 t ext9_open\t[ext9]\n"
        "ffffffff81000080 t bpf_prog_1234\t[bpf]\n"};

std::string said_of(const FunctionLists& lists, const std::string& name) {
    const auto hook = KernelFunctions(lists).hook_of(name);
    if (!hook.ok()) {
        return hook.error().text();
    }
    static constexpr const char* kHooks[] = {"tracer", "breakpoint", "unknown"};
    return kHooks[static_cast<int>(hook.value())];
}

TEST(KernelFunctions, tell_how_each_can_be_watched) {
    EXPECT_EQ(said_of(kLists, "vfs_read"), "tracer");
    EXPECT_EQ(said_of(kLists, "ext9_open"), "tracer");
    EXPECT_EQ(said_of(kLists, "quiet_read"), "breakpoint");
    EXPECT_EQ(said_of(kLists, "do_int3"), "the kernel forbids probes in its function 'do_int3'");
    FunctionLists some = kLists;
    some.available = "";
    EXPECT_EQ(said_of(some, "vfs_read"), "unknown");
    some.symbols = "";
    some.available = kLists.available;
    EXPECT_EQ(said_of(some, "vfs_read"), "tracer");
}

TEST(KernelFunctions, say_what_became_of_others) {
    EXPECT_EQ(said_of(kLists, "small_read"),
              "the kernel has no function 'small_read': the compiler made "
              "'small_read.constprop.0', 'small_read.isra.0' of it, whose arguments may be others");
    EXPECT_EQ(said_of(kLists, "vfs_raed"),
              "the kernel has no function 'vfs_raed', did you mean 'vfs_read'?");
    EXPECT_EQ(said_of(kLists, "some_data"), "the kernel has no function 'some_data'");
    EXPECT_EQ(said_of(kLists, "bpf_prog_1234"), "the kernel has no function 'bpf_prog_1234'");
    EXPECT_EQ(said_of(kLists, "\x1b"), "the kernel has no function '\\x1b'");
    EXPECT_EQ(said_of(kLists, ""), "the kernel has no function ''");
}

TEST(KernelFunctions, are_chosen_by_pattern) {
    using Names = std::vector<std::string>;
    const KernelFunctions functions(kLists);
    EXPECT_EQ(functions.matching("*_read"), Names({"quiet_read", "vfs_read"}));
    EXPECT_EQ(functions.matching("do_*"), Names());
    EXPECT_EQ(functions.matching("*").size(), 5u);
}

TEST(KernelFunctions, are_read_from_anything) {
    for (const std::string text :
         {"", "\n\n", "a", "a b", "a t", "\t t x", "a t \n", "0x-\t", "a t b c d e f"}) {
        const KernelFunctions functions({.available = text, .blacklist = text, .symbols = text});
        for (const std::string& name : functions.matching("*")) {
            EXPECT_FALSE(name.empty());
        }
    }
}

TEST(KernelFunctionsOfThisMachine, have_those_that_every_kernel_has) {
    const KernelFunctions functions(function_lists_of_this_kernel());
    if (functions.matching("*").empty()) {
        GTEST_SKIP() << "this kernel shows no functions";
    }
    EXPECT_TRUE(functions.has("vfs_read"));
    EXPECT_TRUE(functions.hook_of("vfs_read").ok());
}

}  // namespace
}  // namespace dyetrace::probes
