#include <gtest/gtest.h>
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cstring>

#include "format/structure.h"

namespace dyetrace::format {
namespace {

template <typename T>
std::string bytes_of(const T& value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

TEST(Values, of_sets_of_descriptors) {
    std::string out;
    const std::string bits("\x28\0\0\0\0\0\0\0\x01", 9);
    EXPECT_TRUE(append_fd_set(out, bits, 1024));
    EXPECT_TRUE(append_fd_set(out, std::string(8, '\0'), 64));
    EXPECT_TRUE(append_fd_set(out, bits, 5));
    EXPECT_EQ(out, "[3 5 64][][3]");
}

TEST(Values, of_limits) {
    const std::uint64_t limit[] = {8 << 20, ~std::uint64_t{0}};
    const std::uint64_t small[] = {1000, 1024};
    std::string out;
    EXPECT_TRUE(append_rlimit(out, bytes_of(limit)) && append_rlimit(out, bytes_of(small)));
    EXPECT_FALSE(append_rlimit(out, "short"));
    EXPECT_EQ(out, "{rlim_cur=8192*1024, rlim_max=RLIM64_INFINITY}{rlim_cur=1000, rlim_max=1024}");
}

TEST(Values, of_options_of_sockets) {
    const auto text = [](int option, const std::string& bytes) {
        std::string out;
        EXPECT_TRUE(
            append_socket_option(out, SOL_SOCKET, static_cast<unsigned>(option), bytes, false));
        return out;
    };
    EXPECT_EQ(text(SO_ERROR, bytes_of(111)), "[ECONNREFUSED]");
    EXPECT_EQ(text(SO_ERROR, "o"), R"("\x6f")");
    EXPECT_EQ(text(SO_KEEPALIVE, bytes_of(1)), "[1]");
    EXPECT_EQ(text(SO_LINGER, bytes_of(1)), "{l_onoff=1}");
    EXPECT_EQ(text(SO_LINGER, bytes_of(1) + "\5"), R"({l_onoff=1, l_linger="\x05"})");
    EXPECT_EQ(text(SO_LINGER, bytes_of(linger{1, 5})), "{l_onoff=1, l_linger=5}");
    std::string out;
    EXPECT_FALSE(append_socket_option(out, SOL_SOCKET, SO_LINGER, bytes_of(1), true));
    EXPECT_FALSE(append_socket_option(out, SOL_SOCKET, SO_ERROR, "", false));
    EXPECT_EQ(out, "");
    EXPECT_EQ(text(SO_RCVTIMEO, bytes_of(timeval{1, 2})), "{tv_sec=1, tv_usec=2}");
    EXPECT_EQ(text(SO_PEERCRED, bytes_of(ucred{7, 8, 9})), "{pid=7, uid=8, gid=9}");
    EXPECT_EQ(text(SO_BINDTODEVICE, "lo"), R"("lo")");
}

TEST(Values, of_options_of_packet_sockets) {
    const std::string ring = bytes_of(std::array<std::uint32_t, 4>{4096, 2, 1024, ~0u});
    std::string out;
    EXPECT_TRUE(append_socket_option(out, SOL_PACKET, PACKET_RX_RING, ring, true));
    EXPECT_EQ(out,
              "{tp_block_size=4096, tp_block_nr=2, tp_frame_size=1024, tp_frame_nr=4294967295}");
    EXPECT_FALSE(append_socket_option(out, SOL_PACKET, PACKET_TX_RING, ring + "x", true));
    out.clear();
    const std::string statistics = bytes_of(std::array<std::uint32_t, 3>{7, 1, 0});
    append_socket_option(out, SOL_PACKET, PACKET_STATISTICS, statistics.substr(0, 8), false);
    append_socket_option(out, SOL_PACKET, PACKET_STATISTICS, statistics.substr(0, 4), false);
    append_socket_option(out, SOL_PACKET, PACKET_VERSION, bytes_of(2), true);
    EXPECT_EQ(out, "{tp_packets=7, tp_drops=1}{tp_packets=7}[2]");
}

TEST(Values, of_control_data_end_where_they_are_cut) {
    alignas(cmsghdr) char buffer[CMSG_SPACE(2 * sizeof(int))] = {};
    msghdr message{};
    message.msg_control = buffer;
    message.msg_controllen = sizeof(buffer);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(2 * sizeof(int));
    const int descriptors[] = {4, 9};
    std::memcpy(CMSG_DATA(header), descriptors, sizeof(descriptors));
    const std::string bytes(buffer, sizeof(buffer));
    std::string out;
    EXPECT_TRUE(append_control(out, bytes, {}));
    EXPECT_EQ(out,
              "[{cmsg_len=24, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[4, 9]}]");
    for (std::size_t length = 0; length < header->cmsg_len; ++length) {
        out.clear();
        EXPECT_FALSE(append_control(out, bytes.substr(0, length), {}));
        EXPECT_EQ(out, "");
    }
}

}  // namespace
}  // namespace dyetrace::format
