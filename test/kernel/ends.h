// Two connected descriptors for a program of a test, and messages that go over them.
#pragma once

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <span>
#include <vector>

#include "kernel/recorded.h"
#include "kernel/socket_address.h"

namespace dyetrace::test {

struct Ends {
    int from, to;
};

inline Ends pipe_ends() {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    return {ends[1], ends[0]};
}

inline Ends unix_ends(int type = SOCK_STREAM) {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, type, 0, ends) == 0);
    return {ends[0], ends[1]};
}

inline Ends tcp_ends() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(Address::loopback(0).bind(listener) == 0 && listen(listener, 1) == 0);
    REQUIRE(Address::of(listener).connect(client) == 0);
    const Ends ends{client, accept(listener, nullptr, nullptr)};
    close(listener);
    return ends;
}

// sendmmsg or recvmmsg of buffers, a message each; they must go, or come, as a whole.
inline void messages(int call, int fd, const std::vector<std::span<char>>& buffers, int flags = 0) {
    std::vector<iovec> parts;
    parts.reserve(buffers.size());
    std::vector<mmsghdr> headers(buffers.size());
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        parts.push_back({buffers[i].data(), buffers[i].size()});
        headers[i].msg_hdr.msg_iov = &parts[i];
        headers[i].msg_hdr.msg_iovlen = 1;
    }
    REQUIRE(syscall(call, fd, headers.data(), headers.size(), flags, nullptr) ==
            static_cast<long>(buffers.size()));
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        REQUIRE(headers[i].msg_len == buffers[i].size());
    }
}

}  // namespace dyetrace::test
