// Bytes that are not text as text: the one reversible escape, and addresses in their usual notation.
//
// A path, a comm or an address of the abstract namespace is any string of bytes; SQL and JSON want UTF-8. Valid UTF-8
// stays as it is; a backslash becomes \\, a byte that is not valid UTF-8, and NUL, become \xHH. Control characters stay:
// whoever shows text makes them harmless (base/harmless.h, base/json_string.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dyetrace::schema {

// Appends the escaped bytes; no allocation beyond the growth of `out`.
void append_escaped(std::string& out, std::string_view bytes);
std::string escaped(std::string_view bytes);

// The bytes again; nothing if `text` is not what append_escaped makes.
std::optional<std::string> unescaped(std::string_view text);

// `bytes` is 16 bytes as in the records: IPv6, or IPv4 in the first four. Empty for a family that has no such address.
std::string ip_text(std::uint16_t family, const std::uint8_t* bytes);

struct SocketAddress {
    std::string address;  // "10.0.0.7", "::1", "/run/x.sock" (escaped), "@abstract"; empty: unnamed
    std::uint16_t port = 0;
    bool has_port = false;
};

// A sockaddr as the kernel or a program gave it; nothing if it is too short for its family or the family is unknown.
std::optional<SocketAddress> parse_socket_address(std::string_view sockaddr);

}  // namespace dyetrace::schema
