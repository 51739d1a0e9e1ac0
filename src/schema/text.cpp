#include "schema/text.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstddef>
#include <cstring>

namespace dyetrace::schema {
namespace {

// Bytes of the valid UTF-8 sequence at the start of `s` (Unicode 15, table 3-7), 0 if there is none.
std::size_t utf8_length(std::string_view s) {
    const auto byte = [&](std::size_t i) {
        return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u;
    };
    const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
    const unsigned first = byte(0);
    if (first < 0x80) {
        return first == 0 ? 0 : 1;
    }
    if (first >= 0xC2 && first <= 0xDF) {
        return continues(1) ? 2 : 0;
    }
    if (first >= 0xE0 && first <= 0xEF) {
        const bool overlong = first == 0xE0 && byte(1) < 0xA0;
        const bool surrogate = first == 0xED && byte(1) > 0x9F;
        return !overlong && !surrogate && continues(1) && continues(2) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool overlong = first == 0xF0 && byte(1) < 0x90;
        const bool beyond = first == 0xF4 && byte(1) > 0x8F;
        return !overlong && !beyond && continues(1) && continues(2) && continues(3) ? 4 : 0;
    }
    return 0;
}

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

}  // namespace

void append_escaped(std::string& out, std::string_view bytes) {
    constexpr std::string_view kHex = "0123456789abcdef";
    while (!bytes.empty()) {
        std::size_t length = utf8_length(bytes);
        if (length == 0) {
            const auto byte = static_cast<unsigned char>(bytes[0]);
            const std::array<char, 4> text{'\\', 'x', kHex[byte >> 4], kHex[byte & 15u]};
            out.append(text.data(), text.size());
            length = 1;
        } else if (bytes[0] == '\\') {
            out.append("\\\\");
        } else {
            out.append(bytes.substr(0, length));
        }
        bytes.remove_prefix(length);
    }
}

std::string escaped(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size());
    append_escaped(out, bytes);
    return out;
}

void append_json_string(std::string& out, std::string_view text) {
    constexpr std::string_view kShort = "\b\f\n\r\t\"\\", kLetters = "bfnrt\"\\";
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    out.push_back('"');
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (const std::size_t at = kShort.find(c); at != std::string_view::npos) {
            out.push_back('\\');
            out.push_back(kLetters[at]);
        } else if (byte < 0x20) {
            out.append("\\u00").append({kDigits[byte >> 4], kDigits[byte & 15]});
        } else {
            out.push_back(c);
        }
    }
    out.push_back('"');
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
