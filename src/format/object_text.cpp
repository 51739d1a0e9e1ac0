#include "format/object_text.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <iterator>
#include <string_view>

#include "format/quote.h"

namespace dyetrace::format {
namespace {

constexpr std::uint16_t kProtocolTcp = 6;
constexpr std::uint16_t kProtocolUdp = 17;
constexpr std::uint16_t kProtocolMptcp = 262;

std::string_view internet_name(const schema::SocketEnds& socket) {
    const bool v6 = socket.family == AF_INET6;
    switch (socket.protocol) {
        case kProtocolTcp:
            return v6 ? "TCPv6" : "TCP";
        case kProtocolUdp:
            return v6 ? "UDPv6" : "UDP";
        case kProtocolMptcp:
            return v6 ? "MPTCPv6" : "MPTCP";
        default:
            break;
    }
    if (socket.socket_type == SOCK_RAW) {
        return v6 ? "RAWv6" : "RAW";
    }
    return {};
}

std::string_view unix_name(std::uint16_t type) {
    switch (type) {
        case SOCK_STREAM:
            return "UNIX-STREAM";
        case SOCK_DGRAM:
            return "UNIX-DGRAM";
        case SOCK_SEQPACKET:
            return "UNIX-SEQPACKET";
        default:
            return "UNIX";
    }
}

void append_end(std::string& out, const std::string& address, std::uint16_t port, bool v6) {
    out.append(v6 ? "[" : "").append(address);
    fmt::format_to(std::back_inserter(out), "{}:{}", v6 ? "]" : "", port);
}

void append_internet(std::string& out,
                     const schema::Object& object,
                     const schema::SocketEnds& socket,
                     std::string_view name) {
    const bool v6 = socket.family == AF_INET6;
    out.append(name).append(":[");
    if (socket.local_port == 0) {
        fmt::format_to(std::back_inserter(out), "{}", object.inode);
    } else {
        append_end(out, socket.local_address, socket.local_port, v6);
    }
    if (socket.remote_port != 0) {
        out.append("->");
        append_end(out, socket.remote_address, socket.remote_port, v6);
    }
    out.push_back(']');
}

void append_unix(std::string& out, const schema::Object& object, const schema::SocketEnds& socket) {
    fmt::format_to(std::back_inserter(out), "{}:[{}", unix_name(socket.socket_type), object.inode);
    const auto& path =
        socket.unix_path && !socket.unix_path->empty() ? socket.unix_path : socket.unix_peer_path;
    if (path && !path->empty()) {
        const bool abstract = path->front() == '@';
        constexpr std::size_t kPathBytesMax = 108;  // sun_path
        out.append(abstract ? ",@" : ",");
        append_quoted(out, std::string_view(*path).substr(abstract ? 1 : 0), kPathBytesMax);
    }
    out.push_back(']');
}

// <char 1:3>; nothing for what is no device file, or was recorded when handles did not say.
void append_device(std::string& out, const schema::Object& object) {
    constexpr unsigned kMinorBits = 20;
    const bool is_block = object.object_type == schema::ObjectType::kBlockDevice;
    if (!is_block && object.object_type != schema::ObjectType::kCharacterDevice) {
        return;
    }
    if (object.special_device != 0) {
        fmt::format_to(std::back_inserter(out),
                       "<{} {}:{}>",
                       is_block ? "block" : "char",
                       object.special_device >> kMinorBits,
                       object.special_device & ((1u << kMinorBits) - 1));
    }
}

}  // namespace

void append_socket(std::string& out, const schema::Object& object) {
    if (object.socket) {
        const schema::SocketEnds& socket = *object.socket;
        const bool internet = socket.family == AF_INET || socket.family == AF_INET6;
        if (const std::string_view name = internet ? internet_name(socket) : std::string_view{};
            !name.empty()) {
            append_internet(out, object, socket, name);
            return;
        }
        if (socket.family == AF_UNIX) {
            append_unix(out, object, socket);
            return;
        }
    }
    fmt::format_to(std::back_inserter(out), "socket:[{}]", object.inode);
}

void append_object(std::string& out, const schema::Object& object, Names names) {
    if (names == Names::kNone) {
        return;
    }
    const bool is_socket =
        object.object_type == schema::ObjectType::kSocket || object.socket.has_value();
    if (is_socket) {
        out.push_back('<');
        if (names == Names::kAll) {
            append_socket(out, object);
        } else {
            fmt::format_to(std::back_inserter(out), "socket:[{}]", object.inode);
        }
        out.push_back('>');
        return;
    }
    if (object.name() == nullptr) {
        return;
    }
    constexpr std::uint8_t kUnlinked = 2;  // bit 1 of handle.flags
    out.push_back('<');
    append_between(out, *object.name());
    if (names == Names::kAll) {
        append_device(out, object);
    }
    out.append((object.flags & kUnlinked) != 0 ? ">(deleted)" : ">");
}

}  // namespace dyetrace::format
