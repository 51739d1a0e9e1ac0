#include "exporter/packets.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

namespace dyetrace::exporter {
namespace {

constexpr std::size_t kIpBytes = 20, kTcpBytes = 20, kUdpBytes = 8;

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t count, bool is_big) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t place = is_big ? at + i : at + count - 1 - i;
        number = number << 8 | static_cast<unsigned char>(bytes[place]);
    }
    return number;
}

// A file as a reader sees it: its packets, each from its IP header on.
struct Captured {
    std::uint32_t interface = 0, original_bytes = 0;
    std::string bytes;

    std::uint32_t be(std::size_t at, std::size_t count) const {
        return number_at(bytes, at, count, true);
    }
    std::uint32_t flags() const { return be(kIpBytes + 12, 2) & 0xff; }
    std::uint32_t sequence() const { return be(kIpBytes + 4, 4); }
    std::string payload() const { return bytes.substr(kIpBytes + kTcpBytes); }
};

class Capture {
  public:
    Capture()
        : file_([this](std::string_view bytes) {
              bytes_ += bytes;
              return Result<void>();
          }),
          packets_(file_) {
        EXPECT_TRUE(file_.begin("test").ok());
        EXPECT_TRUE(file_.add_interface("web1").ok());
        EXPECT_TRUE(file_.add_interface("web2").ok());
    }

    void stream(const MovingCall& call, std::optional<std::uint64_t> at, std::string_view bytes) {
        EXPECT_TRUE(packets_.add_stream_bytes(call, at, bytes).ok());
    }
    void datagram(const MovingCall& call, std::string_view bytes, std::size_t original) {
        EXPECT_TRUE(packets_.add_datagram(call, bytes, original).ok());
    }

    std::vector<Captured> all() {
        EXPECT_TRUE(file_.end().ok());
        std::vector<Captured> packets;
        for (std::string_view rest = bytes_; !rest.empty();) {
            const std::uint32_t length = number_at(rest, 4, 4, false);
            EXPECT_EQ(number_at(rest, length - 4, 4, false), length);
            EXPECT_EQ(length % 4, 0u);
            if (number_at(rest, 0, 4, false) == 6) {
                packets.push_back({number_at(rest, 8, 4, false),
                                   number_at(rest, 24, 4, false),
                                   std::string(rest.substr(28, number_at(rest, 20, 4, false)))});
            }
            rest.remove_prefix(length);
        }
        return packets;
    }

    // Without those that open a connection: "0:hello 5: world", places from the first one on.
    std::string stretches() {
        std::string text;
        std::uint32_t first = 0;
        for (const Captured& packet : all()) {
            if ((packet.flags() & 2) != 0) {
                first = (packet.flags() & 16) != 0 ? first : packet.sequence() + 1;
                continue;
            }
            text += fmt::format("{}:{} ", packet.sequence() - first, packet.payload());
        }
        return text;
    }

  private:
    std::string bytes_;
    PcapngWriter file_;
    Packets packets_;
};

// A call of a client, which has the higher port.
MovingCall call(bool is_sent, std::uint32_t interface = 0) {
    return {.interface = interface,
            .time_ns = 1'700'000'000'123'456'789,
            .is_sent = is_sent,
            .source = *endpoint_of("10.0.0.1", 40'000),
            .destination = *endpoint_of("10.0.0.2", 80),
            .connection_id = 5};
}

TEST(Packets, the_same_bytes_are_there_once_on_each_host) {
    Capture capture;
    capture.stream(call(true), 0, "hello");
    capture.stream(call(false), 0, "hel");
    capture.stream(call(true), 5, " world");
    capture.stream(call(false), 3, "lo wor");
    EXPECT_EQ(capture.stretches(), "0:hello 5: world ");
    Capture other;
    other.stream(call(true, 0), 0, "hello");
    other.stream(call(false, 1), 0, "hello");
    EXPECT_EQ(other.all().size(), 6u);
}

TEST(Packets, what_was_sent_out_of_order_leaves_no_hole_and_no_copy) {
    Capture capture;
    capture.stream(call(true), 0, "ab");
    capture.stream(call(true), 6, "gh");
    capture.stream(call(true), 3, "d");
    capture.stream(call(false), 1, "bcdefghi");
    EXPECT_EQ(capture.stretches(), "0:ab 6:gh 3:d 2:c 4:ef 8:i ");
}

TEST(Packets, a_connection_is_opened_by_the_higher_port_whoever_speaks_first) {
    Capture capture;
    MovingCall answer = call(true);
    std::swap(answer.source, answer.destination);
    capture.stream(answer, 0, "220 ready");
    const std::vector<Captured> packets = capture.all();
    ASSERT_EQ(packets.size(), 3u);
    EXPECT_EQ(packets[0].flags(), 2u);
    EXPECT_EQ(packets[0].be(kIpBytes, 2), 40'000u);
    EXPECT_EQ(packets[1].flags(), 18u);
    EXPECT_EQ(packets[2].sequence(), packets[1].sequence() + 1);
}

TEST(Packets, a_stream_whose_beginning_was_not_seen_is_not_opened) {
    Capture capture;
    capture.stream(call(true), 1'000'000'000'000, "late");
    ASSERT_EQ(capture.all().size(), 1u);
}

TEST(Packets, much_at_once_is_cut_into_packets_that_ip_can_carry) {
    Capture capture;
    const std::string much(3 * Packets::kSegmentBytesMax + 1, 'x');
    capture.stream(call(true), 0, much);
    std::size_t bytes = 0;
    for (const Captured& packet : capture.all()) {
        EXPECT_EQ(packet.be(2, 2), packet.bytes.size());
        bytes += packet.bytes.size() - kIpBytes - kTcpBytes;
    }
    EXPECT_EQ(bytes, much.size());
}

TEST(Packets, as_many_datagrams_arrive_as_were_sent_and_one_that_came_from_elsewhere_is_there) {
    Capture capture;
    capture.datagram(call(true), "a", 1);
    capture.datagram(call(true), "a", 1);
    capture.datagram(call(false), "a", 1);
    capture.datagram(call(false), "a", 1);
    capture.datagram(call(false), "a", 1);
    EXPECT_EQ(capture.all().size(), 3u);
}

TEST(Packets, a_datagram_of_which_a_part_is_known_says_how_long_it_was) {
    Capture capture;
    capture.datagram(call(true), "begin", 1000);
    const std::vector<Captured> packets = capture.all();
    ASSERT_EQ(packets.size(), 1u);
    EXPECT_EQ(packets[0].bytes.size(), kIpBytes + kUdpBytes + 5);
    EXPECT_EQ(packets[0].original_bytes, kIpBytes + kUdpBytes + 1000);
    EXPECT_EQ(packets[0].be(2, 2), kIpBytes + kUdpBytes + 1000);
}

TEST(Packets, addresses_are_read_and_what_is_none_is_not) {
    EXPECT_EQ(endpoint_of("::ffff:10.0.0.1", 1)->address, std::string("\x0a\0\0\x01", 4));
    EXPECT_TRUE(endpoint_of("fe80::1", 1)->is_v6);
    EXPECT_FALSE(endpoint_of("/run/socket", 1));
    EXPECT_FALSE(endpoint_of("", 1));
}

TEST(Packets, datagrams_that_never_arrive_are_forgotten) {
    Capture capture;
    for (std::size_t i = 0; i <= Packets::kDatagramsRemembered; ++i) {
        capture.datagram(call(true), fmt::format("{}", i), 1);
    }
    capture.datagram(call(false), "0", 1);
    capture.datagram(call(false), "1", 1);
    EXPECT_EQ(capture.all().size(), Packets::kDatagramsRemembered + 2);
}

}  // namespace
}  // namespace dyetrace::exporter
