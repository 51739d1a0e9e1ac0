// sendmmsg, recvmmsg: a part per message; sendmsg, recvmsg: the descriptors that travel.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "kernel/recorded.h"

namespace dyetrace::test {
namespace {

class Messages : public KernelTest {};

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

// A UDP socket on loopback; `port` gets the port that the kernel chose.
int udp_socket(std::uint16_t& port) {
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    sockaddr_in address = loopback(0);
    socklen_t length = sizeof(address);
    REQUIRE(bind(fd, reinterpret_cast<sockaddr*>(&address), length) == 0);
    REQUIRE(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0);
    port = ntohs(address.sin_port);
    return fd;
}

// Messages with a buffer and an address each.
struct Batch {
    std::array<std::array<char, 64>, 4> buffers{};
    std::array<iovec, 4> vectors{};
    std::array<sockaddr_in, 4> addresses{};
    std::array<mmsghdr, 4> messages{};

    void set(std::size_t index, std::size_t bytes, bool addressed) {
        vectors[index] = {buffers[index].data(), bytes};
        msghdr& header = messages[index].msg_hdr;
        header.msg_iov = &vectors[index];
        header.msg_iovlen = 1;
        if (addressed) {
            header.msg_name = &addresses[index];
            header.msg_namelen = sizeof(sockaddr_in);
        }
    }
};

TEST_F(Messages, sendmmsg_and_recvmmsg_have_a_part_per_message) {
    Shared<std::uint16_t> from, to;
    const Trace trace = record([&] {
        const int sender = udp_socket(*from), receiver = udp_socket(*to);
        Batch out, in;
        for (std::size_t i = 0; i < 3; ++i) {
            out.set(i, 10 * (i + 1), true);
            out.addresses[i] = loopback(*to);
            in.set(i, 64, true);
        }
        REQUIRE(sendmmsg(sender, out.messages.data(), 3, 0) == 3);
        REQUIRE(recvmmsg(receiver, in.messages.data(), 4, MSG_DONTWAIT, nullptr) == 3);
        REQUIRE(recvmmsg(receiver, in.messages.data(), 4, MSG_DONTWAIT, nullptr) < 0);
    });
    const std::string sender = "127.0.0.1:" + std::to_string(*from);
    const std::string receiver = "127.0.0.1:" + std::to_string(*to);
    const Event sent = trace.only("sendmmsg");
    EXPECT_EQ(sent.result(), 3);
    EXPECT_EQ(sent.event_class(), schema::Class::kNetwork);
    EXPECT_EQ(sent.bytes(), std::nullopt);  // its parts have them
    ASSERT_EQ(sent.parts().size(), 3u);
    const Event received = trace.nth("recvmmsg", 0);
    ASSERT_EQ(received.parts().size(), 3u);
    for (int i = 0; i < 3; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const Part out = sent.parts()[at], in = received.parts()[at];
        EXPECT_EQ(out.raw().part, static_cast<std::uint32_t>(i));
        EXPECT_EQ(out.operation(), "sendmsg");
        EXPECT_EQ(out.result(), 10 * (i + 1));
        EXPECT_EQ(out.bytes(), 10 * (i + 1));
        EXPECT_EQ(out.requested(), 10 * (i + 1));
        EXPECT_EQ(out.fd(), sent.fd());
        EXPECT_EQ(out.object(), sent.object());
        EXPECT_EQ(out.address(), receiver);
        EXPECT_EQ(out.duration_ns(), sent.duration_ns());
        EXPECT_EQ(out.raw().start_ns, sent.raw().start_ns);
        EXPECT_EQ(out.raw().context_id, sent.raw().context_id);
        EXPECT_EQ(out.raw().event_class, static_cast<std::uint8_t>(schema::Class::kNetwork));
        EXPECT_EQ(out.stream_offset(), std::nullopt);
        EXPECT_EQ(in.operation(), "recvmsg");
        EXPECT_EQ(in.bytes(), 10 * (i + 1));
        EXPECT_EQ(in.requested(), 64);
        EXPECT_EQ(in.address(), sender);
    }
    EXPECT_EQ(trace.nth("recvmmsg", 1).error(), "EAGAIN");
    EXPECT_TRUE(trace.nth("recvmmsg", 1).parts().empty());
}

// A part has no flags of its own: what those of its call say of its bytes is a bit.
TEST_F(Messages, of_recvmmsg_say_whether_their_bytes_stay) {
    constexpr auto kHasPeeks = schema::PartEvent::kHasPeeks;
    constexpr auto kHasReportsError = schema::PartEvent::kHasReportsError;
    Shared<std::uint16_t> from, to;
    const Trace trace = record([&] {
        const int sender = udp_socket(*from), receiver = udp_socket(*to);
        Batch out, in;
        out.set(0, 10, true);
        out.addresses[0] = loopback(*to);
        in.set(0, 64, true);
        REQUIRE(sendmmsg(sender, out.messages.data(), 1, 0) == 1);
        REQUIRE(recvmmsg(receiver, in.messages.data(), 1, MSG_DONTWAIT | MSG_PEEK, nullptr) == 1);
        REQUIRE(recvmmsg(receiver, in.messages.data(), 1, MSG_DONTWAIT, nullptr) == 1);
    });
    const auto bits_of = [](const Event& call) {
        return call.parts().at(0).raw().present & (kHasPeeks | kHasReportsError);
    };
    EXPECT_EQ(bits_of(trace.only("sendmmsg")), 0u);
    EXPECT_EQ(bits_of(trace.nth("recvmmsg", 0)), kHasPeeks);
    EXPECT_EQ(bits_of(trace.nth("recvmmsg", 1)), 0u);
}

void send_descriptors(int socket, int first, int second) {
    alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
    char byte = 'x';
    iovec vector{&byte, 1};
    msghdr message{};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(2 * sizeof(int));
    const int descriptors[2] = {first, second};
    std::memcpy(CMSG_DATA(header), descriptors, sizeof(descriptors));
    REQUIRE(sendmsg(socket, &message, 0) == 1);
}

TEST_F(Messages, passed_descriptors_are_objects_of_both_calls) {
    const std::string first = at("first"), second = at("second");
    const Trace trace = record([&] {
        int ends[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
        const int a = open(first.c_str(), O_CREAT | O_RDWR, 0600);
        const int b = open(second.c_str(), O_CREAT | O_RDWR, 0600);
        send_descriptors(ends[0], a, b);
        close(a);
        close(b);
        alignas(cmsghdr) char control[256] = {};
        char byte = 0;
        iovec vector{&byte, 1};
        msghdr message{};
        message.msg_iov = &vector;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof(control);
        REQUIRE(recvmsg(ends[1], &message, 0) == 1);
        int descriptors[2];
        std::memcpy(descriptors, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(descriptors));
        REQUIRE(write(descriptors[1], "abc", 3) == 3);
    });
    for (const char* call : {"sendmsg", "recvmsg"}) {
        const std::vector<Touched> passed = trace.only(call).touched();
        ASSERT_EQ(passed.size(), 2u) << call;
        EXPECT_EQ(passed[0].role, schema::EventRole::kPassed);
        ASSERT_NE(passed[0].object, nullptr);
        ASSERT_NE(passed[1].object, nullptr);
        EXPECT_EQ(*passed[0].object->name(), first);
        EXPECT_EQ(*passed[1].object->name(), second);
    }
    const Event write = trace.only("write");
    EXPECT_EQ(write.path(), second);
    EXPECT_EQ(write.fd(), trace.only("recvmsg").touched()[1].fd);
    EXPECT_EQ(write.object_id(), trace.only("sendmsg").touched()[1].object->object_id);
}

}  // namespace
}  // namespace dyetrace::test
