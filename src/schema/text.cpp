#include "schema/text.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "base/utf8.h"

namespace dyetrace::schema {
namespace {

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

}  // namespace

void append_escaped(std::string& out, std::string_view bytes) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::size_t kept = 0;  // up to here it is in `out`
    for (std::size_t at = 0; at < bytes.size();) {
        const base::CodePoint point = base::first_code_point(bytes.substr(at));
        if (point.value == '\\') {
            out.append(bytes.substr(kept, at - kept)).append("\\\\");
            kept = at + 1;
        } else if (point.value == base::kNotUtf8 || point.value == 0) {
            const auto byte = static_cast<unsigned char>(bytes[at]);
            const std::array<char, 4> text{'\\', 'x', kHex[byte >> 4], kHex[byte & 15u]};
            out.append(bytes.substr(kept, at - kept)).append(text.data(), text.size());
            kept = at + 1;
        }
        at += point.bytes;
    }
    out.append(bytes.substr(kept));
}

std::string escaped(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size());
    append_escaped(out, bytes);
    return out;
}

std::optional<std::string> unescaped(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\') {
            out.push_back(text[i]);
            continue;
        }
        if (i + 1 < text.size() && text[i + 1] == '\\') {
            out.push_back('\\');
            i += 1;
            continue;
        }
        if (i + 3 >= text.size() || text[i + 1] != 'x' || hex_value(text[i + 2]) < 0 ||
            hex_value(text[i + 3]) < 0) {
            return std::nullopt;
        }
        out.push_back(static_cast<char>(hex_value(text[i + 2]) * 16 + hex_value(text[i + 3])));
        i += 3;
    }
    return out;
}

std::string ip_text(std::uint16_t family, const std::uint8_t* bytes) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if ((family != AF_INET && family != AF_INET6) ||
        inet_ntop(family, bytes, text.data(), text.size()) == nullptr) {
        return {};
    }
    return text.data();
}

std::optional<SocketAddress> parse_socket_address(std::string_view sockaddr) {
    std::uint16_t family = 0;
    if (sockaddr.size() < sizeof(family)) {
        return std::nullopt;
    }
    std::memcpy(&family, sockaddr.data(), sizeof(family));
    if (family == AF_INET && sockaddr.size() >= sizeof(sockaddr_in)) {
        sockaddr_in in{};
        std::memcpy(&in, sockaddr.data(), sizeof(in));
        return SocketAddress{ip_text(family, reinterpret_cast<const std::uint8_t*>(&in.sin_addr)),
                             ntohs(in.sin_port),
                             true};
    }
    constexpr std::size_t kIn6Min = 24;  // SIN6_LEN_RFC2133: without the scope id
    if (family == AF_INET6 && sockaddr.size() >= kIn6Min) {
        sockaddr_in6 in{};
        std::memcpy(&in, sockaddr.data(), std::min(sockaddr.size(), sizeof(in)));
        return SocketAddress{ip_text(family, in.sin6_addr.s6_addr), ntohs(in.sin6_port), true};
    }
    if (family == AF_UNIX) {
        std::string_view path = sockaddr.substr(offsetof(sockaddr_un, sun_path));
        const bool abstract = !path.empty() && path[0] == '\0';
        if (abstract) {
            return SocketAddress{"@" + escaped(path.substr(1)), 0, false};
        }
        return SocketAddress{escaped(path.substr(0, path.find('\0'))), 0, false};
    }
    return std::nullopt;
}

}  // namespace dyetrace::schema
