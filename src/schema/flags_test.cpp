#include "schema/flags.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "schema/record_builder.h"

namespace dyetrace::schema {
namespace {

TEST(Flags, are_shown_in_the_order_that_strace_has) {
    EXPECT_EQ(flags_text("open_flags", 0), "O_RDONLY");
    EXPECT_EQ(flags_text("open_flags", 02 | 0100 | 0200 | 02000000),
              "O_RDWR|O_CREAT|O_EXCL|O_CLOEXEC");
    EXPECT_EQ(flags_text("mmap_flags", 0x22), "MAP_PRIVATE|MAP_ANONYMOUS");
    EXPECT_EQ(flags_text("clone_flags", 0x01200011),
              "CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD");
    EXPECT_EQ(flags_text("statx_flags", 0x100), "AT_STATX_SYNC_AS_STAT|AT_SYMLINK_NOFOLLOW");
    EXPECT_EQ(flags_text("socket_type", 0x80801), "SOCK_STREAM|SOCK_CLOEXEC|SOCK_NONBLOCK");
    EXPECT_EQ(flags_text("futex_operation", 0x189),
              "FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME");
}

TEST(Flags, hide_the_parts_of_a_name_of_several_bits) {
    EXPECT_EQ(flags_text("open_flags", 0x101001), "O_WRONLY|O_SYNC");
    EXPECT_EQ(flags_text("open_flags", 0x1001), "O_WRONLY|O_DSYNC");
    EXPECT_EQ(flags_text("open_flags", 0x410002), "O_RDWR|O_TMPFILE");
    EXPECT_EQ(flags_text("statx_mask", 0xfff), "STATX_ALL");
    EXPECT_EQ(flags_text("statx_mask", 0x17ff), "STATX_BASIC_STATS|STATX_MNT_ID");
}

TEST(Flags, show_what_has_no_name) {
    EXPECT_EQ(flags_text("open_flags", 0x80000000), "O_RDONLY|0x80000000");
    EXPECT_EQ(flags_text("rename_flags", 0), "0");
    EXPECT_EQ(flags_text("access_mode", 0), "F_OK");
    EXPECT_EQ(flags_text("mmap_protection", 0), "PROT_NONE");
    EXPECT_EQ(flags_text("seek_whence", 9), "0x9");
    EXPECT_EQ(flags_text("signal", 0), "0");
    EXPECT_EQ(flags_text("dirfd", 0xffffff9c), "AT_FDCWD");
    EXPECT_EQ(flags_text("dirfd", 0xffffffff), "-1");
}

TEST(Flags, show_permissions_in_octal_with_a_type_where_there_is_one) {
    EXPECT_EQ(flags_text("mode", 0), "000");
    EXPECT_EQ(flags_text("mode", 7), "007");
    EXPECT_EQ(flags_text("mode", 022), "022");
    EXPECT_EQ(flags_text("mode", 04755), "04755");
    EXPECT_EQ(flags_text("mode", 010644), "S_IFIFO|0644");
    EXPECT_EQ(flags_text("mode", 0177777), "0177777");
}

TEST(Flags, ignore_what_the_kernel_ignores) {
    EXPECT_EQ(flags_text("at_flags", 0xffffffff00000100), "AT_SYMLINK_NOFOLLOW");
    EXPECT_EQ(flags_text("int", 0x1ffffffff), "-1");
}

std::string arguments_json(std::string_view name,
                           std::array<std::uint64_t, 6> arguments,
                           const std::vector<std::pair<Attachment, std::string_view>>& names = {}) {
    SyscallEvent event{};
    std::copy(arguments.begin(), arguments.end(), event.arguments);
    const OwnedRecord record = build(event, names);
    std::string out;
    for (const SyscallInfo& call : syscalls_of(Abi::kX8664)) {
        if (call.name == name) {
            append_arguments_json(out, call, *as<SyscallEvent>(record.bytes()));
        }
    }
    return out;
}

TEST(Arguments, are_json_by_name_without_pointers_and_descriptors) {
    EXPECT_EQ(arguments_json("openat", {0xffffff9c, 0x7000, 0x80000, 0}),
              R"({"dfd":"AT_FDCWD","flags":"O_RDONLY|O_CLOEXEC","mode":"000"})");
    EXPECT_EQ(arguments_json("openat", {5, 0x7000, 0, 0}),
              R"({"dfd":5,"flags":"O_RDONLY","mode":"000"})");
    EXPECT_EQ(arguments_json("read", {3, 0x7000, 512}), R"({"count":512})");
    EXPECT_EQ(arguments_json("setsockopt", {3, 6, 1, 0x7000, 4}),
              R"({"level":"SOL_TCP","optname":"TCP_NODELAY","optlen":4})");
    EXPECT_EQ(arguments_json("setsockopt", {3, 1, 9999, 0x7000, 4}),
              R"({"level":"SOL_SOCKET","optname":"0x270f","optlen":4})");
    EXPECT_EQ(arguments_json("lseek", {3, std::uint64_t(-5), 2}),
              R"({"offset":-5,"whence":"SEEK_END"})");
    EXPECT_EQ(arguments_json("munmap", {0x7f00, 4096}), R"({"addr":"0x7f00","len":4096})");
    EXPECT_EQ(arguments_json("fchown", {3, 1000, 0xffffffff}), R"({"user":1000,"group":-1})");
    EXPECT_EQ(arguments_json("getpid", {}), "{}");
}

TEST(Arguments, have_the_names_that_the_call_was_given) {
    EXPECT_EQ(arguments_json("setxattr",
                             {0x7000, 0x7100, 0x7200, 2, 1},
                             {{Attachment::kPath, "/a"}, {Attachment::kName, "user.a"}}),
              R"({"name":"user.a","size":2,"flags":"XATTR_CREATE"})");
    EXPECT_EQ(arguments_json("mount",
                             {0x7000, 0x7100, 0, 0x1000},
                             {{Attachment::kName, "a\"b\xff\n\x01"}, {Attachment::kPath2, "/mnt"}}),
              R"({"dev_name":"a\"b\\xff\n\u0001","flags":"MS_BIND"})");
}

TEST(Arguments, behind_a_command_are_what_the_command_says) {
    EXPECT_EQ(arguments_json("fcntl", {3, 4, 0x800}),
              R"({"fd":3,"cmd":"F_SETFL","arg":"O_RDONLY|O_NONBLOCK"})");
    EXPECT_EQ(arguments_json("fcntl", {3, 1030, 10}),
              R"({"fd":3,"cmd":"F_DUPFD_CLOEXEC","arg":10})");
    EXPECT_EQ(arguments_json("fcntl", {3, 3, 77}), R"({"fd":3,"cmd":"F_GETFL"})");
    EXPECT_EQ(arguments_json("fcntl", {3, 6, 0x7000}), R"({"fd":3,"cmd":"F_SETLK"})");
    EXPECT_EQ(arguments_json("fcntl", {3, 9999, 77}), R"({"fd":3,"cmd":"0x270f","arg":77})");
    EXPECT_EQ(arguments_json("prctl", {1, 9}),
              R"({"option":"PR_SET_PDEATHSIG","arg2":"SIGKILL","arg3":0,"arg4":0,"arg5":0})");
}

TEST(Flags, have_a_set_for_every_word_that_a_call_uses_or_a_plain_number) {
    for (const FlagSet& set : flag_sets()) {
        EXPECT_EQ(find_flag_set(set.type), &set);
        for (const FlagLabel& word : set.values) {
            EXPECT_EQ(field_word(set, word.value), word.name) << set.type;
        }
    }
}

}  // namespace
}  // namespace dyetrace::schema
