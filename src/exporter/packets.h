// Bytes that calls moved over IP sockets, as packets that nobody sent so: headers are made up around the bytes, from addresses, ports and
// places in the stream, so that Wireshark puts streams together and reads what is in them.
//
//   send(5, "GET / …", 89)  at 0 of 10.0.0.1:54798 → 10.0.0.2:80      SYN, SYN+ACK (where a stream begins), then
//                                                                     seq = first + 1 + 0, 89 bytes
//   recv(7, …, 89) on the other host                                  the same packet at that host's interface
//   recv(7, …, 89) on the same host                                   nothing: these bytes are there already
//
//   Packets packets(file);
//   TRY(packets.add_stream_bytes(call, offset, bytes));
//   TRY(packets.add_datagram(call, bytes, original_bytes));
//
// Calls come in the order of time. Who has the higher port is taken for who opened a connection.
//
// Limits: some 300 bytes for each connection of a host until all is written; of datagrams the last kDatagramsRemembered that were sent on a
// host are known when they arrive on it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "exporter/pcapng.h"

namespace dyetrace::exporter {

struct Endpoint {
    bool is_v6 = false;
    std::string address;  // 4 or 16 bytes
    std::uint16_t port = 0;
};

// "10.0.0.1", "::1"; "::ffff:10.0.0.1" is 10.0.0.1. Nothing: no IP address.
std::optional<Endpoint> endpoint_of(std::string_view address, std::uint16_t port);

struct MovingCall {
    std::uint32_t interface = 0;
    std::int64_t time_ns = 0;
    bool is_sent = false;
    Endpoint source, destination;  // of the bytes
    std::uint64_t connection_id = 0;
    std::string_view comment = {};
};

class Packets {
  public:
    static constexpr std::size_t kSegmentBytesMax = 65'000;  // an IP packet has 65,535 at most
    static constexpr std::size_t kDatagramBytesMax = 65'507;
    static constexpr std::size_t kDatagramsRemembered = 65'536;

    // `file` must outlive it.
    explicit Packets(PcapngWriter& file) : file_(file) {}

    // Where the stream has no place for them (nullopt), they follow those that came before.
    Result<void> add_stream_bytes(const MovingCall& call,
                                  std::optional<std::uint64_t> offset,
                                  std::string_view bytes);
    // `bytes`: as many of the datagram as are known.
    Result<void> add_datagram(const MovingCall& call,
                              std::string_view bytes,
                              std::size_t original_bytes);

  private:
    // One way of a connection.
    struct Way {
        std::uint32_t first = 0;                       // sequence number of SYN
        std::map<std::uint64_t, std::uint64_t> there;  // stretches that are written: begin, end
        std::uint64_t end() const { return there.empty() ? 0 : there.rbegin()->second; }
    };
    struct Segment {
        std::uint8_t flags = 0;
        std::uint32_t sequence = 0, acknowledged = 0;
        std::string_view bytes = {};
    };

    Way& way_of(const MovingCall& call, bool is_back);
    Result<void> write_opening(const MovingCall& call);
    Result<void> write_stretch(const MovingCall& call,
                               std::uint64_t offset,
                               std::string_view bytes);
    Result<void> write_segment(const MovingCall& call, const Segment& segment);
    bool arrives_where_it_was_sent(const MovingCall& call, std::string_view bytes);

    PcapngWriter& file_;
    std::unordered_map<std::string, Way> ways_;
    std::unordered_map<std::string, std::uint64_t>
        sent_;  // datagrams under way on their host: how many
    std::deque<std::string> sent_order_;
    std::string packet_;
};

}  // namespace dyetrace::exporter
