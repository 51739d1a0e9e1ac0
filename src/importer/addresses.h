// Ends of sockets as text, out of logs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dyetrace::importer {

// AF_INET or AF_INET6 for an address as text, 0 for anything else.
std::uint16_t family_of(const std::string& address);

// The sockaddr that a call would have had; empty if the text is no address.
std::string sockaddr_of(const std::string& address, std::uint16_t port);
// A sockaddr of AF_UNIX; a name that begins with @ is an abstract one.
std::string unix_sockaddr_of(std::string_view name);

// The same number for both ends of a connection, whichever is given first; `turn` tells apart connections of the same ends. Never 0.
std::uint64_t connection_of(std::string_view end, std::string_view other_end, std::uint64_t turn);

// "10.0.0.1:80", "[::1]:80"
std::string end_text(const std::string& address, std::uint16_t port);

}  // namespace dyetrace::importer
