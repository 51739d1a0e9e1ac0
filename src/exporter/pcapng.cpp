#include "exporter/pcapng.h"

#include <concepts>
#include <cstring>

namespace dyetrace::exporter {
namespace {

constexpr std::uint32_t kSectionHeader = 0x0a0d0d0a, kInterface = 1, kEnhancedPacket = 6;
constexpr std::uint32_t kByteOrder = 0x1a2b3c4d;
constexpr std::uint64_t kLengthNotSaid = UINT64_MAX;
constexpr std::uint16_t kLinkTypeRaw = 101;
enum Option : std::uint16_t {
    kEndOfOptions = 0,
    kComment = 1,
    kInterfaceName = 2,
    kUserApplication = 4,
    kTimeResolution = 9,
};
constexpr char kNanoseconds = 9;               // 10^-9 s
constexpr std::size_t kOptionBytesMax = 1000;  // a comment's; its length is a 16-bit number

template <std::unsigned_integral Number>
void append(std::string& out, Number number) {
    char bytes[sizeof(Number)];
    std::memcpy(bytes, &number, sizeof(Number));
    out.append(bytes, sizeof(Number));
}

}  // namespace

std::size_t PcapngWriter::begin_block(std::uint32_t type) {
    const std::size_t block = out_.size();
    append(out_, type);
    append(out_, std::uint32_t{0});
    return block;
}

Result<void> PcapngWriter::end_block(std::size_t block) {
    const auto length = static_cast<std::uint32_t>(out_.size() - block + sizeof(std::uint32_t));
    append(out_, length);
    std::memcpy(out_.data() + block + sizeof(std::uint32_t), &length, sizeof(length));
    return flush(kSinkBytes);
}

void PcapngWriter::pad() {
    out_.append((4 - out_.size() % 4) % 4, '\0');
}

void PcapngWriter::append_option(std::uint16_t code, std::string_view value) {
    value = value.substr(0, kOptionBytesMax);
    append(out_, code);
    append(out_, static_cast<std::uint16_t>(value.size()));
    out_.append(value);
    pad();
}

Result<void> PcapngWriter::begin(std::string_view written_by) {
    const std::size_t block = begin_block(kSectionHeader);
    append(out_, kByteOrder);
    append(out_, std::uint16_t{1});
    append(out_, std::uint16_t{0});
    append(out_, kLengthNotSaid);
    append_option(kUserApplication, written_by);
    append_option(kEndOfOptions, {});
    return end_block(block);
}

Result<void> PcapngWriter::add_interface(std::string_view name) {
    const std::size_t block = begin_block(kInterface);
    append(out_, kLinkTypeRaw);
    append(out_, std::uint16_t{0});
    append(out_, std::uint32_t{0});  // no limit of a packet's length
    append_option(kInterfaceName, name);
    append_option(kTimeResolution, std::string_view(&kNanoseconds, 1));
    append_option(kEndOfOptions, {});
    return end_block(block);
}

Result<void> PcapngWriter::add_packet(const Packet& packet) {
    const std::size_t block = begin_block(kEnhancedPacket);
    const auto time = static_cast<std::uint64_t>(packet.time_ns);
    append(out_, packet.interface);
    append(out_, static_cast<std::uint32_t>(time >> 32));
    append(out_, static_cast<std::uint32_t>(time));
    append(out_, static_cast<std::uint32_t>(packet.bytes.size()));
    append(out_, static_cast<std::uint32_t>(packet.original_bytes));
    out_.append(packet.bytes);
    pad();
    if (!packet.comment.empty()) {
        append_option(kComment, packet.comment);
        append_option(kEndOfOptions, {});
    }
    return end_block(block);
}

Result<void> PcapngWriter::flush(std::size_t at_least) {
    if (out_.size() < at_least || out_.empty()) {
        return {};
    }
    Result<void> written = sink_(out_);
    out_.clear();
    return written;
}

}  // namespace dyetrace::exporter
