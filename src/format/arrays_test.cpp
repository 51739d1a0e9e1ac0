// Arrays that calls are given by address, and what is dumped of a call's bytes.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>

#include "format/test_events.h"
#include "schema/shared/preview.h"

namespace dyetrace::format {
namespace {

std::string detailed(const Call& call, const CallDetail& detail) {
    const Details details(detail);
    LineStyle style = kTight;
    style.details = &details;
    return call.line(style);
}

std::string entry(std::uint64_t inode, unsigned char type, std::string_view name) {
    std::string bytes = bytes_of(std::array<std::uint64_t, 2>{inode, 7});
    const auto length = static_cast<std::uint16_t>((19 + name.size() + 1 + 7) & ~7u);
    bytes += bytes_of(length) + static_cast<char>(type) + std::string(name);
    bytes.resize(length);
    return bytes;
}

TEST(Arrays, of_a_directory_are_counted_or_listed) {
    const std::string entries = entry(11, 4, ".") + entry(12, 8, "a\nb");
    const auto size = static_cast<std::int64_t>(entries.size());
    const Call call =
        Call("getdents64").arguments({3, 0x7000, 8192}).result(size).structure(1, entries);
    EXPECT_EQ(call.line(kTight), "getdents64(3, 0x7000 /* 2 entries */, 8192) = 48");
    EXPECT_EQ(detailed(call, {.whole = true}),
              R"(getdents64(3, [{d_ino=11, d_off=7, d_reclen=24, d_type=DT_DIR, d_name="."}, )"
              R"({d_ino=12, d_off=7, d_reclen=24, d_type=DT_REG, d_name="a\nb"}], 8192) = 48)");
    const Call cut =
        Call("getdents64").arguments({3, 0x7000, 8192}).result(999).structure(1, entries);
    EXPECT_EQ(cut.line(kTight), "getdents64(3, 0x7000, 8192) = 999");
    for (std::size_t bytes = 0; bytes < entries.size(); ++bytes) {
        EXPECT_FALSE(detailed(Call("getdents64")
                                  .arguments({3, 0x7000, 8192})
                                  .result(static_cast<std::int64_t>(bytes))
                                  .structure(1, entries.substr(0, bytes)),
                              {.whole = true})
                         .empty());
    }
}

TEST(Arrays, say_where_the_memory_ends) {
    const std::string set = bytes_of(pollfd{3, POLLIN, 0}) + bytes_of(pollfd{-4, POLLOUT, 0});
    EXPECT_EQ(Call("poll").arguments({0x7ff0, 3, 0}).result(-14).structure(0, set).line(kTight),
              "poll([{fd=3, events=POLLIN}, {fd=-4}, ... /* 0x8000 */], 3, 0) = -1 EFAULT (Bad "
              "address)");
    EXPECT_EQ(Call("poll").arguments({0x7ff0, 0, 0}).result(0).structure(0, "").line(kTight),
              "poll([], 0, 0) = 0 (Timeout)");
    const std::string vector = bytes_of(iovec{reinterpret_cast<void*>(0x9000), 5});
    EXPECT_EQ(
        Call("preadv").arguments({3, 0x7ff0, 2, 0}).result(-14).structure(1, vector).line(kTight),
        "preadv(3, [{iov_base=0x9000, iov_len=5}, ... /* 0x8000 */], 2, 0) = -1 EFAULT (Bad "
        "address)");
}

TEST(Arrays, of_messages_have_a_length_each) {
    const auto message = [](std::uint32_t name_bytes, std::size_t bytes) {
        msghdr header{};
        header.msg_name = name_bytes > 0 ? reinterpret_cast<void*>(0x9000) : nullptr;
        header.msg_namelen = name_bytes;
        header.msg_iovlen = 1;
        return bytes_of(header) + bytes_of(iovec{reinterpret_cast<void*>(0xa000), bytes});
    };
    constexpr std::uint8_t kFirst = 1 | 1 << PREVIEW_MESSAGE_SHIFT;
    constexpr std::uint8_t kSecond = 1 | 2 << PREVIEW_MESSAGE_SHIFT;
    EXPECT_EQ(
        Call("sendmmsg")
            .arguments({3, 0x7000, 2, 0})
            .result(1)
            .structure(kFirst | PREVIEW_AFTER | PREVIEW_CONTROL, bytes_of(3))
            .structure(kFirst, message(5, 3))
            .parts(kFirst, {"abc"})
            .structure(kFirst | PREVIEW_AFTER, std::string("\1\0/a\0", 5))
            .structure(kSecond, message(0, 2))
            .parts(kSecond, {"de"})
            .line(kTight),
        R"(sendmmsg(3, [{msg_hdr={msg_name={sa_family=AF_UNIX, sun_path="/a"}, msg_namelen=5, )"
        R"(msg_iov=[{iov_base="abc", iov_len=3}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, )"
        R"(msg_len=3}, {msg_hdr={msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="de", )"
        R"(iov_len=2}], msg_iovlen=1, msg_controllen=0, msg_flags=0}}], 2, 0) = 1)");
    EXPECT_EQ(
        Call("recvmmsg")
            .arguments({3, 0x7000, 2, 0, 0})
            .result(1)
            .structure(kFirst | PREVIEW_AFTER | PREVIEW_CONTROL, bytes_of(3))
            .structure(kFirst, message(0, 3))
            .parts(kFirst, {"abc"})
            .structure(kSecond, message(0, 2))
            .line(kTight),
        R"(recvmmsg(3, [{msg_hdr={msg_name=NULL, msg_namelen=0, )"
        R"(msg_iov=[{iov_base="abc", iov_len=3}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, )"
        R"(msg_len=3}], 2, 0, NULL) = 1)");
    EXPECT_EQ(Call("recvmmsg").arguments({3, 0x7000, 2, 0, 0}).result(-9).line(kTight),
              "recvmmsg(3, 0x7000, 2, 0, NULL) = -1 EBADF (Bad file descriptor)");
}

TEST(Arrays, of_signals_have_the_size_that_the_kernel_takes) {
    const auto wait = [](std::uint64_t size) {
        return Call("epoll_pwait")
            .arguments({3, 0x7000, 1, 0, 0x9000, size})
            .result(-22)
            .structure(4, bytes_of(std::uint64_t{1}))
            .line(kTight);
    };
    EXPECT_EQ(wait(8), "epoll_pwait(3, 0x7000, 1, 0, [HUP], 8) = -1 EINVAL (Invalid argument)");
    EXPECT_EQ(wait(16), "epoll_pwait(3, 0x7000, 1, 0, 0x9000, 16) = -1 EINVAL (Invalid argument)");
    const Call select = Call("pselect6")
                            .arguments({0, 0, 0, 0, 0, 0x7000})
                            .result(0)
                            .structure(5, bytes_of(std::array<std::uint64_t, 2>{0x9000, 8}))
                            .structure(5 | PREVIEW_CONTROL, bytes_of(std::uint64_t{1}));
    EXPECT_EQ(select.line(kTight),
              "pselect6(0, NULL, NULL, NULL, NULL, {sigmask=[HUP], sigsetsize=8}) = 0 (Timeout)");
}

TEST(Arrays, of_descriptors_end_where_the_kernel_stops_to_look) {
    EXPECT_EQ(Call("select")
                  .arguments({5, 0, 0x7000, 0, 0})
                  .result(0)
                  .structure(2, bytes_of(std::uint64_t{1} << 4 | std::uint64_t{1} << 60))
                  .line(kTight),
              "select(5, NULL, [4], NULL, NULL) = 0 (Timeout)");
}

TEST(Dump, shows_the_bytes_that_a_call_moved) {
    const Call call =
        Call("write").arguments({1, 0x7000, 18}).result(18).preview(1, "0123456789abcdef\n\xff");
    EXPECT_EQ(detailed(call, {.dump = true}),
              "write(1, \"0123456789abcdef\\n\\377\", 18) = 18\n"
              " | 00000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  0123456789abcdef |\n"
              " | 00010  0a ff                                             ..               |");
    EXPECT_EQ(detailed(Call("write").arguments({1, 0x7000, 9}).result(9).preview(1, "ab"),
                       {.dump = true}),
              "write(1, \"ab\"..., 9) = 9\n"
              " | 00000  61 62                                             ab               |\n"
              " | only the first 2 of 9 bytes were captured |");
    const std::string vectors = bytes_of(iovec{nullptr, 2}) + bytes_of(iovec{nullptr, 9});
    EXPECT_EQ(detailed(Call("readv")
                           .arguments({1, 0x7000, 2})
                           .result(3)
                           .structure(1, vectors)
                           .parts(1, {"ab", "c"}),
                       {.dump = true}),
              "readv(1, [{iov_base=\"ab\", iov_len=2}, {iov_base=\"c\", iov_len=9}], 2) = 3\n"
              " * 2 bytes in buffer 0\n"
              " | 00000  61 62                                             ab               |\n"
              " * 1 bytes in buffer 1\n"
              " | 00000  63                                                c                |");
    EXPECT_EQ(detailed(Call("pwrite64").arguments({1, 0x7000, 1, 0}).result(-22).preview(1, "a"),
                       {.dump = true}),
              "pwrite64(1, \"a\", 1, 0) = -1 EINVAL (Invalid argument)\n"
              " | 00000  61                                                a                |");
    EXPECT_EQ(detailed(Call("write").arguments({1, 0x7000, 9}).result(-9), {.dump = true}),
              "write(1, 0x7000, 9) = -1 EBADF (Bad file descriptor)");
}

}  // namespace
}  // namespace dyetrace::format
