// The programs for kernels that have no task work, or no bpf_rdonly_cast either, record what the others do; whatever the kernel here has.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "kernel/recorded.h"

namespace dyetrace::test {
namespace {

class OlderKernels : public KernelTest, public testing::WithParamInterface<capture::Lack> {
  protected:
    OlderKernels() {
        options_.lack = GetParam();
        options_.content = schema::ContentLevel::kAnchors;
        options_.look_for_dyes = true;
        options_.dyes = {{.dye = 1, .text = "indigo"}};
    }
};

TEST_P(OlderKernels, files_have_names_offsets_and_content) {
    const std::string file = at("file"), text = "a river of indigo";
    const Trace trace = record([&] {
        std::string back(100, 0);
        const int fd = open(file.c_str(), O_CREAT | O_RDWR, 0600);
        REQUIRE(write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
        REQUIRE(pread(fd, back.data(), back.size(), 2) == static_cast<ssize_t>(text.size()) - 2);
        REQUIRE(rename(file.c_str(), at("other").c_str()) == 0);
        REQUIRE(unlink(at("other").c_str()) == 0);
    });
    const Event written = trace.only("write"), read = trace.only("pread64");
    EXPECT_EQ(written.path(), file);
    EXPECT_EQ(written.file_offset(), 0);
    EXPECT_EQ(read.file_offset(), 2);
    EXPECT_EQ(written.content()->fingerprint, content::fingerprint(std::as_bytes(std::span(text))));
    EXPECT_EQ(written.dye_hits().size(), 1u);
    EXPECT_EQ(trace.only("rename").object_id(), written.object_id());
    EXPECT_EQ(trace.only("unlink").object_id(), written.object_id());
}

TEST_P(OlderKernels, sockets_have_ends_and_positions) {
    const Trace trace = record([] {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof(address);
        char bytes[8] = {};
        const int listener = socket(AF_INET, SOCK_STREAM, 0),
                  client = socket(AF_INET, SOCK_STREAM, 0);
        REQUIRE(bind(listener, reinterpret_cast<sockaddr*>(&address), length) == 0);
        REQUIRE(listen(listener, 1) == 0);
        REQUIRE(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) == 0);
        REQUIRE(connect(client, reinterpret_cast<sockaddr*>(&address), length) == 0);
        const int server = accept(listener, nullptr, nullptr);
        REQUIRE(send(client, "abc", 3, 0) == 3 && send(client, "de", 2, 0) == 2);
        REQUIRE(recv(server, bytes, 5, MSG_WAITALL) == 5);
    });
    const auto sent = trace.all("sendto");
    const Event read = trace.only("recvfrom");
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_EQ(sent[0].stream_offset(), 0);
    EXPECT_EQ(sent[1].stream_offset(), 3);
    EXPECT_EQ(read.stream_offset(), 0);
    EXPECT_NE(read.connection_id(), 0u);
    EXPECT_EQ(read.connection_id(), sent[1].connection_id());
}

INSTANTIATE_TEST_SUITE_P(,
                         OlderKernels,
                         testing::Values(capture::Lack::kTaskWork, capture::Lack::kCasts),
                         [](const auto& parameter) {
                             return parameter.param == capture::Lack::kCasts ? "without_casts"
                                                                             : "without_task_work";
                         });

}  // namespace
}  // namespace dyetrace::test
