// The fingerprint of every event is that of what its program moved, whatever the call, the size and the pieces.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "kernel/recorded.h"

namespace dyetrace::test {
namespace {

constexpr schema::ContentKey kKey{{0x0123456789abcdef, 0xfedcba9876543210}};

class ContentHash : public KernelTest {
  protected:
    ContentHash() { options_.content = schema::ContentLevel::kHash; }

    // Bytes that repeat nowhere.
    static std::string bytes_of(std::size_t size) {
        std::string bytes(size, 0);
        std::uint64_t state = size + 1;
        for (char& byte : bytes) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            byte = static_cast<char>(state >> 56);
        }
        return bytes;
    }
    std::uint64_t fingerprint(std::string_view bytes) const {
        return schema::fingerprint(std::as_bytes(std::span(bytes)), options_.content_key);
    }
};

class KeyedContentHash : public ContentHash {
  protected:
    KeyedContentHash() { options_.content_key = kKey; }
};

std::vector<std::size_t> sizes() {
    std::vector<std::size_t> sizes;
    for (std::size_t size = 0; size <= 600; ++size) {
        sizes.push_back(size);
    }
    for (const std::size_t border : {4096u, 65'280u, 65'536u, 130'560u, 1u << 20, 8u << 20}) {
        sizes.insert(sizes.end(), {border - 33, border - 1, border, border + 1, border + 255});
    }
    return sizes;
}

TEST_F(ContentHash, of_writes_and_reads_of_any_size_is_that_of_the_bytes) {
    const std::string file = at("file");
    const Trace trace = record([&] {
        const int fd = open(file.c_str(), O_CREAT | O_RDWR, 0600);
        for (const std::size_t size : sizes()) {
            const std::string bytes = bytes_of(size);
            std::string back(size + 7, 0);
            REQUIRE(pwrite(fd, bytes.data(), size, 0) == static_cast<ssize_t>(size));
            REQUIRE(ftruncate(fd, static_cast<off_t>(size)) == 0);
            REQUIRE(pread(fd, back.data(), back.size(), 0) == static_cast<ssize_t>(size));
        }
    });
    const auto writes = trace.all("pwrite64"), reads = trace.all("pread64");
    ASSERT_EQ(writes.size(), sizes().size());
    ASSERT_EQ(reads.size(), sizes().size());
    for (std::size_t i = 0; i < sizes().size(); ++i) {
        for (const Event& event : {writes[i], reads[i]}) {
            ASSERT_TRUE(event.content()) << event.name() << sizes()[i];
            EXPECT_EQ(event.content()->unread_bytes, 0u);
            EXPECT_EQ(event.content()->fingerprint, fingerprint(bytes_of(sizes()[i])))
                << event.name() << " " << sizes()[i];
        }
    }
}

TEST_F(KeyedContentHash, is_that_of_the_key) {
    const Trace trace = record([&] {
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        REQUIRE(write(ends[1], "hello", 5) == 5);
    });
    EXPECT_EQ(trace.only("write").content()->fingerprint, fingerprint("hello"));
}

TEST_F(ContentHash, of_iovecs_and_messages_is_that_of_their_bytes_one_after_another) {
    const std::string bytes = bytes_of(300'000);
    const auto pieces = [](std::string& text) {
        std::vector<iovec> parts;
        std::size_t at = 0, size = 0;
        for (; at < text.size(); at += size) {
            size = std::min(text.size() - at, parts.size() * 7 % 1031);
            parts.push_back({text.data() + at, size});
        }
        return parts;
    };
    const Trace trace = record([&] {
        std::string out = bytes, in(bytes.size(), 0);
        auto parts = pieces(out);
        REQUIRE(parts.size() < 1024);
        const int fd = open(at("file").c_str(), O_CREAT | O_RDWR, 0600);
        REQUIRE(pwritev(fd, parts.data(), static_cast<int>(parts.size()), 0) ==
                static_cast<ssize_t>(out.size()));
        parts = pieces(in);
        REQUIRE(preadv(fd, parts.data(), static_cast<int>(parts.size()), 0) ==
                static_cast<ssize_t>(in.size()));
        REQUIRE(in == out);
        int ends[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
        iovec short_parts[] = {{out.data(), 3}, {out.data() + 3, 0}, {out.data() + 3, 4094}};
        msghdr message{};
        message.msg_iov = short_parts;
        message.msg_iovlen = 3;
        REQUIRE(sendmsg(ends[0], &message, 0) == 4097);
        REQUIRE(recv(ends[1], in.data(), 100, MSG_TRUNC) == 4097);
    });
    EXPECT_EQ(trace.only("pwritev").content()->fingerprint, fingerprint(bytes));
    EXPECT_EQ(trace.only("preadv").content()->fingerprint, fingerprint(bytes));
    EXPECT_EQ(trace.only("sendmsg").content()->fingerprint, fingerprint(bytes.substr(0, 4097)));
    EXPECT_EQ(trace.only("sendmsg").content()->unread_bytes, 0u);
    EXPECT_EQ(trace.only("recvfrom").content()->unread_bytes, 4097u - 100u);
}

TEST_F(ContentHash, of_pages_that_nobody_touched_before_and_of_nothing) {
    constexpr std::size_t kBytes = 1u << 20, kPage = 4096;
    const Trace trace = record([&] {
        const int fd = open(at("file").c_str(), O_CREAT | O_RDWR, 0600);
        auto* memory = static_cast<char*>(mmap(
            nullptr, kBytes + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        REQUIRE(memory != MAP_FAILED);
        REQUIRE(mprotect(memory + kBytes, kPage, PROT_NONE) == 0);
        // the kernel reads all of it, and so it is there at the end
        REQUIRE(write(fd, memory, kBytes) == kBytes);
        REQUIRE(write(fd, memory, 0) == 0);
        REQUIRE(write(fd, memory + kBytes, 8) == -1);  // nobody may read it
    });
    EXPECT_EQ(trace.nth("write", 0).content()->unread_bytes, 0u);
    EXPECT_EQ(trace.nth("write", 0).content()->fingerprint, fingerprint(std::string(kBytes, 0)));
    EXPECT_EQ(trace.nth("write", 1).content()->fingerprint, fingerprint(""));
    EXPECT_FALSE(trace.nth("write", 2).content());
}

}  // namespace
}  // namespace dyetrace::test
