#include "format/layout.h"

#include <gtest/gtest.h>

#include "format/test_events.h"

namespace dyetrace::format {
namespace {

using schema::Abi;

// What an arm64 kernel writes, word by word.
template <typename... Words>
std::string words(Words... values) {
    return (bytes_of(values) + ...);
}

TEST(Layout, a_stat_of_arm64_is_shown_as_one_of_x86_64) {
    const std::string arm64 =
        words(std::uint64_t{0xfe01}, std::uint64_t{77}, 0100644u, 3u, 1000u, 1001u) +
        words(std::uint64_t{0}, std::uint64_t{0}, std::int64_t{1234}, 4096, 0, std::int64_t{8}) +
        words(std::int64_t{0}, std::int64_t{0}, std::int64_t{0}, std::int64_t{0}, std::int64_t{0}) +
        words(std::int64_t{0}, 0u, 0u);
    EXPECT_EQ(
        Call("fstat", Abi::kArm64).arguments({3, 0x7000}).result(0).structure(1, arm64).line(),
        "fstat(3, {st_mode=S_IFREG|0644, st_size=1234, ...}) = 0");
    EXPECT_EQ(common_layout(Abi::kArm64, "stat_out", arm64.substr(0, 100)), "");
    EXPECT_EQ(common_layout(Abi::kX8664, "stat_out", arm64), arm64);
}

TEST(Layout, members_of_an_epoll_set_of_arm64_are_not_packed) {
    const std::string event = words(1u, 0xffffffffu, std::uint64_t{7});
    EXPECT_EQ(Call("epoll_ctl", Abi::kArm64)
                  .arguments({3, 1, 7, 0x7000})
                  .result(0)
                  .structure(3, event)
                  .line(),
              "epoll_ctl(3, EPOLL_CTL_ADD, 7, {events=EPOLLIN, data={u32=7, u64=7}}) = 0");
    EXPECT_EQ(Call("epoll_pwait", Abi::kArm64)
                  .arguments({3, 0x7000, 8, 0, 0, 8})
                  .result(2)
                  .structure(1, event + event)
                  .line(),
              "epoll_pwait(3, [{events=EPOLLIN, data={u32=7, u64=7}}, {events=EPOLLIN, "
              "data={u32=7, u64=7}}], 8, 0, NULL, 8) = 2");
}

TEST(Layout, flags_of_open_have_the_names_of_the_machine_that_made_the_call) {
    constexpr std::uint64_t kDirectory = 0x4000, kDirect = 0x10000, kLargeFile = 0x20000;
    EXPECT_EQ(Call("openat", Abi::kArm64)
                  .path("x")
                  .arguments({0xffffff9c, 0x7000, kDirectory})
                  .result(3)
                  .line(),
              "openat(AT_FDCWD, \"x\", O_RDONLY|O_DIRECTORY) = 3");
    EXPECT_EQ(Call("fcntl", Abi::kArm64).arguments({3, 3, 0}).result(kLargeFile | 2).line(),
              "fcntl(3, F_GETFL)                       = 0x20002 (flags O_RDWR|O_LARGEFILE)");
    EXPECT_EQ(Call("fcntl", Abi::kArm64).arguments({3, 4, kDirect}).result(0).line(),
              "fcntl(3, F_SETFL, O_RDONLY|O_DIRECT)    = 0");
    EXPECT_EQ(Call("pipe2", Abi::kArm64).arguments({0x7000, kDirect}).result(-14).line(),
              "pipe2(0x7000, O_DIRECT)                 = -1 EFAULT (Bad address)");
    EXPECT_EQ(Call("openat2", Abi::kArm64)
                  .path("x")
                  .arguments({0xffffff9c, 0x7000, 0x7010, 24})
                  .result(3)
                  .structure(2, words(kDirectory, std::uint64_t{0}, std::uint64_t{0}))
                  .line(),
              "openat2(AT_FDCWD, \"x\", {flags=O_RDONLY|O_DIRECTORY, resolve=0}, 24) = 3");
    EXPECT_EQ(common_open_flags(Abi::kArm, 0x3c842), 0x3c842u);
    EXPECT_EQ(common_open_flags(Abi::kArm64, kDirect | kDirectory), 0x14000u);
    EXPECT_EQ(common_open_flags(Abi::kI386, kDirect), kDirect);
}

TEST(Layout, arguments_of_clone_are_in_the_order_of_the_machine) {
    const auto line = [](Abi abi) {
        constexpr std::uint64_t kSetsChildTid = 0x1000000 | 17;
        return Call("clone", abi).arguments({kSetsChildTid, 0, 0, 0x5000, 0x6000}).result(9).line();
    };
    EXPECT_NE(line(Abi::kArm64), line(Abi::kX8664));
    EXPECT_EQ(line(Abi::kArm64), line(Abi::kI386));
}

}  // namespace
}  // namespace dyetrace::format
