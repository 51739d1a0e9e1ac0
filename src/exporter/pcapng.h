// Packets in a file that Wireshark, tshark and tcpdump read: pcapng, one section, little-endian, times in nanoseconds since 1970.
//
//   PcapngWriter file(sink);
//   TRY(file.begin("dyetrace 0.1"));
//   TRY(const std::uint32_t web1, file.add_interface("web1"));
//   TRY(file.add_packet({.interface = web1, .time_ns = …, .bytes = ip_packet, .original_bytes = …, .comment = "curl[4711] sendto"}));
//   TRY(file.end());
//
// Packets begin with their IP header (link type RAW).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "exporter/event.h"

namespace dyetrace::exporter {

struct Packet {
    std::uint32_t interface = 0;
    std::int64_t time_ns = 0;
    std::string_view bytes;
    std::size_t original_bytes = 0;  // at least as many as `bytes` has
    std::string_view comment = {};
};

class PcapngWriter {
  public:
    explicit PcapngWriter(Sink sink) : sink_(std::move(sink)) {}

    Result<void> begin(std::string_view written_by);
    // Before the packets that name it; they are numbered from 0.
    Result<void> add_interface(std::string_view name);
    Result<void> add_packet(const Packet& packet);
    Result<void> end() { return flush(0); }

  private:
    std::size_t begin_block(std::uint32_t type);
    Result<void> end_block(std::size_t block);
    void append_option(std::uint16_t code, std::string_view value);
    void pad();
    Result<void> flush(std::size_t at_least);

    Sink sink_;
    std::string out_;  // begins at a multiple of four bytes of the file
};

}  // namespace dyetrace::exporter
