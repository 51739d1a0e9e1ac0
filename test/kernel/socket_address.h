// A socket address that a program of a test binds, connects or is told.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace dyetrace::test {

class Address {
  public:
    static Address of_text(const char* text, std::uint16_t port) {
        Address result(sizeof(sockaddr_in));
        auto* address = reinterpret_cast<sockaddr_in*>(&result.storage_);
        address->sin_family = AF_INET;
        address->sin_port = htons(port);
        inet_pton(AF_INET, text, &address->sin_addr);
        return result;
    }
    static Address loopback(std::uint16_t port) { return of_text("127.0.0.1", port); }
    static Address loopback6(std::uint16_t port) {
        Address result(sizeof(sockaddr_in6));
        auto* address = reinterpret_cast<sockaddr_in6*>(&result.storage_);
        address->sin6_family = AF_INET6;
        address->sin6_port = htons(port);
        address->sin6_addr = in6addr_loopback;
        return result;
    }
    static Address unix_path(std::string_view path) { return unix_bytes(path, path.size() + 1); }
    // An address in the abstract namespace has a NUL before the name.
    static Address abstract(std::string_view name) {
        Address result = unix_bytes("", name.size() + 1);
        auto* address = reinterpret_cast<sockaddr_un*>(&result.storage_);
        std::memcpy(address->sun_path + 1, name.data(), name.size());
        return result;
    }
    // getsockname and getpeername, for the program that is recorded.
    static Address of(int fd) {
        Address result;
        getsockname(fd, result.get(), &result.length());
        return result;
    }
    static Address peer_of(int fd) {
        Address result;
        getpeername(fd, result.get(), &result.length());
        return result;
    }

    explicit Address(std::size_t length = sizeof(sockaddr_storage))
        : length_(static_cast<socklen_t>(length)) {}

    int bind(int fd) const { return ::bind(fd, get(), length_); }
    int connect(int fd) const { return ::connect(fd, get(), length_); }

    sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage_); }
    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
    socklen_t& length() { return length_; }
    socklen_t length() const { return length_; }

  private:
    static Address unix_bytes(std::string_view path, std::size_t bytes) {
        Address result(offsetof(sockaddr_un, sun_path) + bytes);
        auto* address = reinterpret_cast<sockaddr_un*>(&result.storage_);
        address->sun_family = AF_UNIX;
        std::memcpy(address->sun_path, path.data(), path.size());
        return result;
    }

    sockaddr_storage storage_{};
    socklen_t length_;
};

}  // namespace dyetrace::test
