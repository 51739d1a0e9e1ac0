#include "exporter/packets.h"

#include <arpa/inet.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace dyetrace::exporter {
namespace {

constexpr std::uint8_t kTcp = 6, kUdp = 17;
constexpr std::uint8_t kSyn = 0x02, kPush = 0x08, kAck = 0x10;
constexpr std::size_t kTcpHeaderBytes = 20, kUdpHeaderBytes = 8;
constexpr std::string_view kMappedPrefix("\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);

void append16(std::string& out, std::size_t number) {
    out.push_back(static_cast<char>(number >> 8));
    out.push_back(static_cast<char>(number));
}

void append32(std::string& out, std::uint32_t number) {
    append16(out, number >> 16);
    append16(out, number & 0xffff);
}

// The sum of the Internet's checksums, to be folded.
std::uint64_t sum16(std::string_view bytes) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        sum += i % 2 == 0 ? std::uint64_t{byte} << 8 : byte;
    }
    return sum;
}

std::size_t folded(std::uint64_t sum) {
    while (sum > 0xffff) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return ~sum & 0xffff;
}

void put16(std::string& out, std::size_t at, std::size_t number) {
    out[at] = static_cast<char>(number >> 8);
    out[at + 1] = static_cast<char>(number);
}

// Both as IPv6 where one is: an IPv4 address is then a mapped one.
std::string as_wide(const Endpoint& end) {
    return end.is_v6 ? end.address : std::string(kMappedPrefix) + end.address;
}

void append_ip_header(std::string& out,
                      const MovingCall& call,
                      std::uint8_t protocol,
                      std::size_t payload_bytes) {
    if (call.source.is_v6 || call.destination.is_v6) {
        append32(out, 0x6000'0000);
        append16(out, payload_bytes);
        out.push_back(static_cast<char>(protocol));
        out.push_back(64);  // hops that are left
        out.append(as_wide(call.source)).append(as_wide(call.destination));
        return;
    }
    const std::size_t begin = out.size();
    append16(out, 0x4500);
    append16(out, 20 + payload_bytes);
    append32(out, 0x0000'4000);  // not to be fragmented
    out.push_back(64);
    out.push_back(static_cast<char>(protocol));
    append16(out, 0);
    out.append(call.source.address).append(call.destination.address);
    put16(out, begin + 10, folded(sum16(std::string_view(out).substr(begin))));
}

// The checksum of TCP or UDP after an IP header; it counts the addresses, too.
std::size_t checksum(const MovingCall& call, std::uint8_t protocol, std::string_view payload) {
    return folded(sum16(call.source.address) + sum16(call.destination.address) + protocol +
                  payload.size() + sum16(payload));
}

std::string way_name(const MovingCall& call, bool is_back) {
    const Endpoint& from = is_back ? call.destination : call.source;
    const Endpoint& to = is_back ? call.source : call.destination;
    std::string name;
    append32(name, call.interface);
    append32(name, static_cast<std::uint32_t>(call.connection_id >> 32));
    append32(name, static_cast<std::uint32_t>(call.connection_id));
    name.append(as_wide(from)).append(as_wide(to));
    append16(name, from.port);
    append16(name, to.port);
    return name;
}

// Its first number: told apart from that of an earlier connection between the same ports.
std::uint32_t first_number(std::string_view way) {
    std::uint64_t number = 0;
    for (const char c : way) {
        number = spread(number + static_cast<unsigned char>(c) + 1);
    }
    return static_cast<std::uint32_t>(number);
}

}  // namespace

std::optional<Endpoint> endpoint_of(std::string_view address, std::uint16_t port) {
    const std::string text(address);
    char bytes[16];
    if (inet_pton(AF_INET, text.c_str(), bytes) == 1) {
        return Endpoint{false, std::string(bytes, 4), port};
    }
    if (inet_pton(AF_INET6, text.c_str(), bytes) != 1) {
        return std::nullopt;
    }
    if (std::string_view(bytes, kMappedPrefix.size()) == kMappedPrefix) {
        return Endpoint{false, std::string(bytes + kMappedPrefix.size(), 4), port};
    }
    return Endpoint{true, std::string(bytes, 16), port};
}

Packets::Way& Packets::way_of(const MovingCall& call, bool is_back) {
    const auto [place, is_new] = ways_.try_emplace(way_name(call, is_back));
    if (is_new) {
        place->second.first = first_number(place->first);
    }
    return place->second;
}

Result<void> Packets::write_segment(const MovingCall& call, const Segment& segment) {
    packet_.clear();
    append_ip_header(packet_, call, kTcp, kTcpHeaderBytes + segment.bytes.size());
    const std::size_t begin = packet_.size();
    append16(packet_, call.source.port);
    append16(packet_, call.destination.port);
    append32(packet_, segment.sequence);
    append32(packet_, segment.acknowledged);
    append16(packet_, std::size_t{kTcpHeaderBytes / 4} << 12 | segment.flags);
    append16(packet_, 0xffff);  // window
    append32(packet_, 0);
    packet_.append(segment.bytes);
    put16(packet_, begin + 16, checksum(call, kTcp, std::string_view(packet_).substr(begin)));
    return file_.add_packet({call.interface, call.time_ns, packet_, packet_.size(), call.comment});
}

Result<void> Packets::write_opening(const MovingCall& call) {
    MovingCall there = call, back = call;
    std::swap(back.source, back.destination);
    if (call.source.port < call.destination.port) {
        std::swap(there, back);
    }
    there.comment = back.comment = "made up: a connection begins";
    const std::uint32_t first = way_of(there, false).first;
    const std::uint32_t first_back = way_of(there, true).first;
    TRY(write_segment(there, {.flags = kSyn, .sequence = first}));
    return write_segment(back,
                         {.flags = kSyn | kAck, .sequence = first_back, .acknowledged = first + 1});
}

Result<void> Packets::write_stretch(const MovingCall& call,
                                    std::uint64_t offset,
                                    std::string_view bytes) {
    const Way& back = way_of(call, true);
    const auto acknowledged = static_cast<std::uint32_t>(back.first + 1 + back.end());
    const std::uint32_t first = way_of(call, false).first;
    while (!bytes.empty()) {
        const std::string_view now = bytes.substr(0, kSegmentBytesMax);
        TRY(write_segment(call,
                          {.flags = kPush | kAck,
                           .sequence = static_cast<std::uint32_t>(first + 1 + offset),
                           .acknowledged = acknowledged,
                           .bytes = now}));
        bytes.remove_prefix(now.size());
        offset += now.size();
    }
    return {};
}

Result<void> Packets::add_stream_bytes(const MovingCall& call,
                                       std::optional<std::uint64_t> offset,
                                       std::string_view bytes) {
    Way& way = way_of(call, false);
    const std::uint64_t begin = offset.value_or(way.end());
    const std::uint64_t end = begin + bytes.size();
    if (begin == 0 && way.there.empty() && way_of(call, true).there.empty()) {
        TRY(write_opening(call));
    }
    // what lies between the stretches that are there
    std::uint64_t at = begin;
    auto next = way.there.upper_bound(begin);
    if (next != way.there.begin() && std::prev(next)->second >= begin) {
        --next;
        at = std::max(at, next->second);
    }
    std::uint64_t joined_begin = begin, joined_end = end;
    while (next != way.there.end() && next->first <= end) {
        if (next->first > at) {
            TRY(write_stretch(call, at, bytes.substr(at - begin, next->first - at)));
        }
        at = std::max(at, next->second);
        joined_begin = std::min(joined_begin, next->first);
        joined_end = std::max(joined_end, next->second);
        next = way.there.erase(next);
    }
    way.there[joined_begin] = joined_end;
    return at < end ? write_stretch(call, at, bytes.substr(at - begin)) : Result<void>();
}

// A datagram has no number: of equal ones to a port as many arrive as were sent. Who receives need not ask where it came from.
bool Packets::arrives_where_it_was_sent(const MovingCall& call, std::string_view bytes) {
    std::string name;
    append32(name, call.interface);
    append16(name, call.destination.port);
    const std::size_t number = std::hash<std::string_view>()(bytes);
    append32(name, static_cast<std::uint32_t>(number >> 32));
    append32(name, static_cast<std::uint32_t>(number));
    if (call.is_sent) {
        ++sent_[name];
        sent_order_.push_back(std::move(name));
        if (sent_order_.size() > kDatagramsRemembered) {
            const auto oldest = sent_.find(sent_order_.front());
            if (oldest != sent_.end() && --oldest->second == 0) {
                sent_.erase(oldest);
            }
            sent_order_.pop_front();
        }
        return false;
    }
    const auto sent = sent_.find(name);
    if (sent == sent_.end()) {
        return false;
    }
    if (--sent->second == 0) {
        sent_.erase(sent);
    }
    return true;
}

Result<void> Packets::add_datagram(const MovingCall& call,
                                   std::string_view bytes,
                                   std::size_t original_bytes) {
    bytes = bytes.substr(0, kDatagramBytesMax);
    original_bytes = std::min(std::max(original_bytes, bytes.size()), kDatagramBytesMax);
    if (arrives_where_it_was_sent(call, bytes)) {
        return {};
    }
    packet_.clear();
    append_ip_header(packet_, call, kUdp, kUdpHeaderBytes + original_bytes);
    const std::size_t begin = packet_.size();
    append16(packet_, call.source.port);
    append16(packet_, call.destination.port);
    append16(packet_, kUdpHeaderBytes + original_bytes);
    append16(packet_, 0);  // no checksum, where bytes are missing
    packet_.append(bytes);
    if (bytes.size() == original_bytes) {
        const std::size_t sum = checksum(call, kUdp, std::string_view(packet_).substr(begin));
        put16(packet_, begin + 6, sum == 0 ? 0xffff : sum);
    }
    return file_.add_packet({call.interface,
                             call.time_ns,
                             packet_,
                             packet_.size() + original_bytes - bytes.size(),
                             call.comment});
}

}  // namespace dyetrace::exporter
