// Addresses, vectors and messages; the rest is in structure.cpp.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>

#include "format/bytes.h"
#include "format/quote.h"
#include "format/structure.h"
#include "schema/flags.h"
#include "schema/shared/preview.h"
#include "schema/text.h"

namespace dyetrace::format {
namespace {

constexpr std::size_t kUnixPathMax = 108;  // sun_path

std::uint16_t family_of(std::string_view bytes) {
    std::uint16_t family = 0;
    std::memcpy(&family, bytes.data(), sizeof(family));
    return family;
}

void append_unix_address(std::string& out, std::string_view path, Quotes quotes) {
    if (path.empty()) {
        return;
    }
    out.append(", sun_path=");
    if (path.front() == '\0') {
        out.push_back('@');
        append_quoted(out, path.substr(1, kUnixPathMax - 1), kUnixPathMax, false, quotes);
    } else {
        append_quoted(out,
                      path.substr(0, std::min(path.find('\0'), kUnixPathMax)),
                      kUnixPathMax,
                      false,
                      quotes);
    }
}

// The part after sa_family; false if it is too short.
bool append_internet_address(std::string& out, std::uint16_t family, std::string_view bytes) {
    const auto address = schema::parse_socket_address(bytes);
    if (!address) {
        return false;
    }
    if (family == AF_INET) {
        fmt::format_to(std::back_inserter(out),
                       ", sin_port=htons({}), sin_addr=inet_addr(\"{}\")",
                       address->port,
                       address->address);
        return true;
    }
    sockaddr_in6 in{};
    std::memcpy(&in, bytes.data(), std::min(bytes.size(), sizeof(in)));
    fmt::format_to(std::back_inserter(out),
                   ", sin6_port=htons({}), sin6_flowinfo=htonl({}), inet_pton(AF_INET6, \"{}\", "
                   "&sin6_addr), sin6_scope_id={}",
                   address->port,
                   ntohl(in.sin6_flowinfo),
                   address->address,
                   in.sin6_scope_id);
    return true;
}

// What of `data` the call moved, which is `held` bytes long: "" if it moved none, the address if none were captured.
void append_base(std::string& out,
                 const iovec& vector,
                 std::string_view data,
                 std::size_t held,
                 const Limits& limits) {
    const std::string_view known = data.substr(0, held);
    if (known.empty() && held > 0) {
        fmt::format_to(
            std::back_inserter(out), "{:#x}", reinterpret_cast<std::uintptr_t>(vector.iov_base));
        return;
    }
    append_quoted(out, known, limits.text_max, known.size() < held, limits.quotes);
}

}  // namespace

bool append_sockaddr(std::string& out, std::string_view bytes, const Limits& limits) {
    if (bytes.size() < sizeof(std::uint16_t)) {
        return false;
    }
    const std::uint16_t family = family_of(bytes);
    const std::size_t begin = out.size();
    fmt::format_to(std::back_inserter(out),
                   "{{sa_family={}",
                   constant_text("socket_family", family, limits.constants));
    if (family == AF_INET || family == AF_INET6) {
        if (!append_internet_address(out, family, bytes)) {
            out.resize(begin);
            return false;
        }
    } else if (family == AF_UNIX) {
        append_unix_address(out, bytes.substr(sizeof(family)), limits.quotes);
    } else if (family == AF_NETLINK && bytes.size() >= sizeof(sockaddr_nl)) {
        sockaddr_nl netlink{};
        std::memcpy(&netlink, bytes.data(), sizeof(netlink));
        fmt::format_to(
            std::back_inserter(out),
            ", nl_pid={}, nl_groups={}",
            netlink.nl_pid,
            netlink.nl_groups == 0 ? "00000000" : fmt::format("{:#08x}", netlink.nl_groups));
    } else if (bytes.size() > sizeof(family)) {
        out.append(", sa_data=");
        append_quoted(out, bytes.substr(sizeof(family)), kUnixPathMax, false, limits.quotes);
    }
    out.push_back('}');
    return true;
}

VectorBytes::VectorBytes(std::string_view preview)
    : lengths_(preview.substr(0, PREVIEW_LENGTHS_BYTES)),
      bytes_(preview.substr(std::min<std::size_t>(preview.size(), PREVIEW_LENGTHS_BYTES))) {}

std::string_view VectorBytes::of(std::size_t part) const {
    std::size_t from = 0;
    const auto length = [&](std::size_t i) {
        return std::size_t{read_at<std::uint16_t>(lengths_, i * sizeof(std::uint16_t)).value_or(0)};
    };
    for (std::size_t i = 0; i < part; ++i) {
        from += length(i);
    }
    return from < bytes_.size() ? bytes_.substr(from, length(part)) : std::string_view{};
}

bool append_iovecs(std::string& out,
                   std::string_view bytes,
                   std::uint64_t address,
                   std::size_t count,
                   const VectorBytes& data,
                   std::optional<std::size_t> moved,
                   const Limits& limits) {
    const std::size_t known = bytes.size() / sizeof(iovec);
    const std::size_t shown = std::min({count, known, limits.items_max});
    if (known == 0 && count > 0) {
        return false;
    }
    out.push_back('[');
    std::size_t from = 0;
    for (std::size_t i = 0; i < shown; ++i) {
        iovec vector{};
        std::memcpy(&vector, bytes.data() + i * sizeof(vector), sizeof(vector));
        out.append(i > 0 ? ", {iov_base=" : "{iov_base=");
        const std::size_t left = !moved ? 0 : *moved == kMovesAll ? kMovesAll : *moved - from;
        const std::size_t held = std::min(vector.iov_len, left);
        if (moved) {
            append_base(out, vector, data.of(i), held, limits);
        } else {
            out.append(pointer_text(reinterpret_cast<std::uintptr_t>(vector.iov_base)));
        }
        fmt::format_to(std::back_inserter(out), ", iov_len={}}}", vector.iov_len);
        from += held;
    }
    constexpr std::size_t kKnownMax = PREVIEW_VECTORS_MAX;
    if (known > 0 && known < std::min(count, kKnownMax) && known <= limits.items_max) {
        end_array_at(out, address + known * sizeof(iovec));
    } else {
        end_array(out, shown > 0, count > shown);
    }
    return true;
}

bool append_msghdr(std::string& out, const Message& message, const Limits& limits) {
    const auto header = read_at<msghdr>(message.bytes);
    if (!header) {
        return false;
    }
    out.append("{msg_name=");
    if (header->msg_name == nullptr || !append_sockaddr(out, message.name, limits)) {
        out.append(pointer_text(reinterpret_cast<std::uintptr_t>(header->msg_name)));
    }
    out.append(", msg_namelen=");
    if (message.name_room && *message.name_room != header->msg_namelen) {
        print(out, "{} => ", static_cast<std::int32_t>(*message.name_room));
    }
    print(out, "{}, msg_iov=", static_cast<std::int32_t>(header->msg_namelen));
    const std::string_view vectors = message.bytes.substr(sizeof(*header));
    const auto vector = reinterpret_cast<std::uintptr_t>(header->msg_iov);
    const bool has_vectors =
        !vectors.empty() &&
        append_iovecs(
            out, vectors, vector, header->msg_iovlen, message.data, message.moved, limits);
    out.append(has_vectors ? "" : pointer_text(vector));
    print(out, ", msg_iovlen={}", header->msg_iovlen);
    if (header->msg_controllen > 0) {
        out.append(", msg_control=");
        if (!append_control(out, message.control.substr(0, header->msg_controllen), limits)) {
            out.append(hex(reinterpret_cast<std::uintptr_t>(header->msg_control)));
        }
    }
    print(
        out,
        ", msg_controllen={}, msg_flags={}}}",
        header->msg_controllen,
        constant_text("message_flags", static_cast<unsigned>(header->msg_flags), limits.constants));
    return true;
}

}  // namespace dyetrace::format
