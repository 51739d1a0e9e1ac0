#include "format/constant.h"

#include <gtest/gtest.h>

#include "format/test_events.h"

namespace dyetrace::format {
namespace {

LineStyle shown(Constants constants) {
    LineStyle style = kTight;
    style.limits.constants = constants;
    return style;
}

TEST(Constants, are_names_numbers_or_both) {
    const Call call = Call("open").arguments({0x7000, 0x241, 0644}).result(3).path("x");
    EXPECT_EQ(call.line(kTight), R"(open("x", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 3)");
    EXPECT_EQ(call.line(shown(Constants::kNumbers)), R"(open("x", 0x241, 0644) = 3)");
    EXPECT_EQ(call.line(shown(Constants::kBoth)),
              R"(open("x", 0x241 /* O_WRONLY|O_CREAT|O_TRUNC */, 0644) = 3)");
    const Call at = Call("unlinkat").arguments({kAtFdcwd, 0x7000, 0}).result(0).path("x");
    EXPECT_EQ(at.line(shown(Constants::kNumbers)), R"(unlinkat(-100, "x", 0) = 0)");
    EXPECT_EQ(at.line(shown(Constants::kBoth)), R"(unlinkat(-100 /* AT_FDCWD */, "x", 0) = 0)");
    EXPECT_EQ(mode_text(0102755, Constants::kNames), "S_IFREG|S_ISGID|0755");
    EXPECT_EQ(mode_text(0102755, Constants::kNumbers), "0102755");
    EXPECT_EQ(mode_text(0102755, Constants::kBoth), "0102755 /* S_IFREG|S_ISGID|0755 */");
    EXPECT_EQ(mode_text(0177777, Constants::kNames), "0177777");
    EXPECT_EQ(mode_text(0, Constants::kBoth), "000");
}

TEST(Constants, say_that_no_part_of_a_number_has_a_name) {
    EXPECT_EQ(constant_text("access_mode", 8, Constants::kNames), "0x8 /* ?_OK */");
    EXPECT_EQ(constant_text("access_mode", 0, Constants::kNames), "F_OK");
    EXPECT_EQ(constant_text("access_mode", 0, Constants::kBoth), "0 /* F_OK */");
    EXPECT_EQ(constant_text("access_mode", 12, Constants::kNames), "R_OK|0x8");
    EXPECT_EQ(constant_text("access_mode", 8, Constants::kNumbers), "0x8");
    EXPECT_EQ(constant_text("seek_whence", 9, Constants::kBoth), "0x9 /* SEEK_??? */");
    EXPECT_EQ(constant_text("rename_flags", 0, Constants::kBoth), "0");
    EXPECT_EQ(constant_text("uint", 7, Constants::kBoth), "7");
}

TEST(Constants, of_what_is_made_are_permissions_only) {
    EXPECT_EQ(Call("mkdir").arguments({0x7000, 040006}).result(-17).path("x").line(kTight),
              R"(mkdir("x", 040006) = -1 EEXIST (File exists))");
    EXPECT_EQ(Call("mknod").arguments({0x7000, 0100644, 5}).result(0).path("x").line(kTight),
              R"(mknod("x", S_IFREG|0644) = 0)");
    EXPECT_EQ(Call("mknod").arguments({0x7000, 020644, 0x107}).result(0).path("x").line(kTight),
              R"(mknod("x", S_IFCHR|0644, makedev(0x1, 0x7)) = 0)");
}

TEST(Constants, of_options_of_sockets_go_by_their_level) {
    constexpr std::uint64_t kPacket = 0x107;
    EXPECT_EQ(socket_option_text(kPacket, 6, Constants::kNames), "PACKET_STATISTICS");
    EXPECT_EQ(socket_option_text(kPacket, 99, Constants::kNames), "0x63 /* PACKET_??? */");
    EXPECT_EQ(socket_option_text(kPacket, 99, Constants::kNumbers), "0x63");
    EXPECT_EQ(socket_option_text(1, ~std::uint64_t{0}, Constants::kBoth),
              "0xffffffff /* SO_??? */");
    EXPECT_EQ(socket_option_text(1, 4, Constants::kBoth), "0x4 /* SO_ERROR */");
    EXPECT_EQ(socket_option_text(4711, 1, Constants::kNames), "0x1");
}

TEST(Constants, of_memory_files_have_the_size_of_pages) {
    EXPECT_EQ(memfd_flags_text(3, Constants::kNames), "MFD_CLOEXEC|MFD_ALLOW_SEALING");
    EXPECT_EQ(memfd_flags_text(30u << 26, Constants::kNames), "30<<MFD_HUGE_SHIFT");
    EXPECT_EQ(memfd_flags_text(0x54000004, Constants::kBoth),
              "0x54000004 /* MFD_HUGETLB|21<<MFD_HUGE_SHIFT */");
    EXPECT_EQ(memfd_flags_text(0x54000004, Constants::kNumbers), "0x54000004");
    EXPECT_EQ(memfd_flags_text(0x20, Constants::kNames), "0x20 /* MFD_??? */");
}

TEST(Constants, of_mappings_have_a_kind_and_the_size_of_pages) {
    EXPECT_EQ(map_flags_text(0x22, Constants::kNames), "MAP_PRIVATE|MAP_ANONYMOUS");
    EXPECT_EQ(map_flags_text(0, Constants::kNames), "MAP_FILE");
    EXPECT_EQ(map_flags_text(0x54044011 | (3u << 26), Constants::kNames).substr(0, 20),
              "MAP_SHARED|MAP_FIXED");
    EXPECT_EQ(map_flags_text(0x5404401f, Constants::kNames),
              "0xf /* MAP_??? */|MAP_FIXED|MAP_NORESERVE|MAP_HUGETLB|21<<MAP_HUGE_SHIFT");
    EXPECT_EQ(map_flags_text(2, Constants::kBoth), "0x2 /* MAP_PRIVATE */");
    EXPECT_EQ(Call("mremap").arguments({0x7000, 1, 2, 0, 0}).result(0x7000).line(kTight),
              "mremap(0x7000, 1, 2, 0) = 0x7000");
    EXPECT_EQ(Call("mremap").arguments({0x7000, 1, 2, 3, 0x9000}).result(0x9000).line(kTight),
              "mremap(0x7000, 1, 2, MREMAP_MAYMOVE|MREMAP_FIXED, 0x9000) = 0x9000");
}

}  // namespace
}  // namespace dyetrace::format
