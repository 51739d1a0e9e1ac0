#include "importer/addresses.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "content/fingerprint.h"

namespace dyetrace::importer {
namespace {

template <typename Address>
std::string bytes_of(const Address& address) {
    return {reinterpret_cast<const char*>(&address), sizeof(address)};
}

}  // namespace

std::uint16_t family_of(const std::string& address) {
    in6_addr bytes{};
    if (::inet_pton(AF_INET, address.c_str(), &bytes) == 1) {
        return AF_INET;
    }
    return ::inet_pton(AF_INET6, address.c_str(), &bytes) == 1 ? AF_INET6 : 0;
}

std::string sockaddr_of(const std::string& address, std::uint16_t port) {
    sockaddr_in v4{};
    if (::inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1) {
        v4.sin_family = AF_INET;
        v4.sin_port = htons(port);
        return bytes_of(v4);
    }
    sockaddr_in6 v6{};
    if (::inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) == 1) {
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(port);
        return bytes_of(v6);
    }
    return {};
}

std::string unix_sockaddr_of(std::string_view name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::size_t length = std::min(name.size(), sizeof(address.sun_path));
    std::memcpy(address.sun_path, name.data(), length);
    if (name.starts_with('@')) {
        address.sun_path[0] = '\0';
    }
    return bytes_of(address).substr(0, offsetof(sockaddr_un, sun_path) + length);
}

std::uint64_t connection_of(std::string_view end, std::string_view other_end, std::uint64_t turn) {
    if (other_end < end) {
        std::swap(end, other_end);
    }
    const std::string text = fmt::format("{} {} {}", end, other_end, turn);
    return std::max<std::uint64_t>(content::fingerprint(std::as_bytes(std::span(text))), 1);
}

std::string end_text(const std::string& address, std::uint16_t port) {
    return address.find(':') == std::string::npos ? fmt::format("{}:{}", address, port)
                                                  : fmt::format("[{}]:{}", address, port);
}

}  // namespace dyetrace::importer
