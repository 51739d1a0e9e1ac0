// The fingerprint of every event is that of the bytes that the program says it moved: for all calls of a kind, from nothing to
// 8 MiB, from and into memory that lay there and memory that the call itself had to bring in.
#include "content/fingerprint.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "base/random_bytes.h"
#include "kernel/recorded.h"

namespace dyetrace::test {
namespace {

constexpr std::size_t kBytesMax = 8u << 20;
constexpr std::size_t kSizes[] = {0, 1, 255, 4097, 65'537, 1'000'003, kBytesMax};
constexpr auto kStreamSizes = std::span(kSizes).subspan(1);

struct Call {
    const char* name;
    ssize_t (*move)(int fd, char* bytes, std::size_t size);
};

std::array<iovec, 3> parts_of(char* bytes, std::size_t size) {
    return {{{bytes, size / 3}, {bytes, 0}, {bytes + size / 3, size - size / 3}}};
}

msghdr message_of(std::array<iovec, 3>& parts) {
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    return message;
}

constexpr Call kFileWrites[] = {
    {"write", [](int fd, char* b, std::size_t n) { return write(fd, b, n); }},
    {"writev", [](int fd, char* b, std::size_t n) { return writev(fd, parts_of(b, n).data(), 3); }},
    {"pwrite64", [](int fd, char* b, std::size_t n) { return pwrite(fd, b, n, 0); }},
    {"pwritev",
     [](int fd, char* b, std::size_t n) { return pwritev(fd, parts_of(b, n).data(), 3, 0); }},
    {"pwritev2",
     [](int fd, char* b, std::size_t n) { return pwritev2(fd, parts_of(b, n).data(), 3, 0, 0); }},
};
constexpr Call kFileReads[] = {
    {"read", [](int fd, char* b, std::size_t n) { return read(fd, b, n); }},
    {"readv", [](int fd, char* b, std::size_t n) { return readv(fd, parts_of(b, n).data(), 3); }},
    {"pread64", [](int fd, char* b, std::size_t n) { return pread(fd, b, n, 0); }},
    {"preadv",
     [](int fd, char* b, std::size_t n) { return preadv(fd, parts_of(b, n).data(), 3, 0); }},
    {"preadv2",
     [](int fd, char* b, std::size_t n) { return preadv2(fd, parts_of(b, n).data(), 3, 0, 0); }},
};
constexpr Call kSends[] = {
    kFileWrites[0],
    kFileWrites[1],
    {"sendto", [](int fd, char* b, std::size_t n) { return send(fd, b, n, 0); }},
    {"sendmsg",
     [](int fd, char* b, std::size_t n) {
         auto parts = parts_of(b, n);
         const msghdr message = message_of(parts);
         return sendmsg(fd, &message, 0);
     }},
};
constexpr Call kReceives[] = {
    kFileReads[0],
    kFileReads[1],
    {"recvfrom", [](int fd, char* b, std::size_t n) { return recv(fd, b, n, 0); }},
    {"recvmsg",
     [](int fd, char* b, std::size_t n) {
         auto parts = parts_of(b, n);
         msghdr message = message_of(parts);
         return recvmsg(fd, &message, 0);
     }},
};

// The child makes it: pages of a file that was put out of memory, or of nothing yet; or touched by the program before.
class Buffer {
  public:
    Buffer(int fd, bool is_resident) {
        if (fd >= 0) {
            posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        }
        const int flags = MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0);
        memory_ = mmap(nullptr,
                       kBytesMax,
                       PROT_READ | PROT_WRITE,
                       flags | (is_resident ? MAP_POPULATE : 0),
                       fd,
                       0);
        REQUIRE(memory_ != MAP_FAILED);
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { munmap(memory_, kBytesMax); }
    char* bytes() const { return static_cast<char*>(memory_); }

  private:
    void* memory_;
};

class Fingerprints : public KernelTest {
  protected:
    Fingerprints() { options_.content = schema::ContentLevel::kHash; }

    // Has the content; made before anybody watches.
    base::Fd source_file() const {
        base::Fd file(open(at("source").c_str(), O_RDWR | O_CREAT, 0600));
        EXPECT_EQ(write(file.get(), content_.data(), kBytesMax), ssize_t{kBytesMax});
        EXPECT_EQ(fsync(file.get()), 0);
        return file;
    }

    void expect_of(const Event& event, std::size_t begin, std::size_t size) const {
        const auto bytes = std::as_bytes(std::span(content_)).subspan(begin, size);
        ASSERT_TRUE(event.content()) << event.name() << " " << size;
        EXPECT_EQ(event.content()->unread_bytes, 0u) << event.name() << " " << size;
        EXPECT_EQ(event.content()->fingerprint, content::fingerprint(bytes, std::nullopt))
            << event.name() << " " << size;
    }

    // Each call has moved the sizes in order, some in several pieces.
    void expect_each(const std::vector<Event>& events) const {
        std::size_t at = 0, begin = 0;
        for (const Event& event : events) {
            ASSERT_LT(at, kStreamSizes.size()) << event.name();
            const auto moved = static_cast<std::size_t>(event.result());
            expect_of(event, begin, moved);
            begin += moved;
            if (begin == kStreamSizes[at]) {
                ++at;
                begin = 0;
            }
        }
        EXPECT_EQ(at, kStreamSizes.size());
    }

    // One thread puts in, the other one takes out.
    void expect_streamed(int to, int from) {
        const base::Fd source = source_file();
        const Trace trace = record([&] {
            std::thread receiver([&] {
                each_of_stream(kReceives, [&](const Call& call, std::size_t size) {
                    const Buffer memory(-1, false);
                    for (std::size_t got = 0; got < size;) {
                        const ssize_t now = call.move(from, memory.bytes() + got, size - got);
                        REQUIRE(now > 0);
                        got += static_cast<std::size_t>(now);
                    }
                });
            });
            each_of_stream(kSends, [&](const Call& call, std::size_t size) {
                const Buffer memory(source.get(), false);
                REQUIRE(call.move(to, memory.bytes(), size) == static_cast<ssize_t>(size));
            });
            receiver.join();
        });
        for (const auto& calls : {std::span(kSends), std::span(kReceives)}) {
            for (const Call& call : calls) {
                expect_each(trace.all(call.name));
            }
        }
    }

    template <typename Take>
    static void each_of_stream(std::span<const Call> calls, Take&& take) {
        for (const std::size_t size : kStreamSizes) {
            for (const Call& call : calls) {
                take(call, size);
            }
        }
    }

    const std::string content_ = base::random_bytes(kBytesMax, 11);
};

TEST_F(Fingerprints, of_reads_and_writes_of_a_file_are_those_of_what_was_moved) {
    const base::Fd source = source_file();
    const Trace trace = record([&] {
        const int fd = open(at("file").c_str(), O_RDWR | O_CREAT, 0600);
        const auto move = [&](const Call& call, std::size_t size, const Buffer& memory) {
            REQUIRE(lseek(fd, 0, SEEK_SET) == 0);
            REQUIRE(call.move(fd, memory.bytes(), size) == static_cast<ssize_t>(size));
        };
        for (const bool is_resident : {true, false}) {
            for (const std::size_t size : kSizes) {
                for (const Call& call : kFileWrites) {
                    move(call, size, Buffer(source.get(), is_resident));
                }
                for (const Call& call : kFileReads) {
                    move(call, size, Buffer(-1, is_resident));
                }
            }
        }
    });
    for (const auto& calls : {std::span(kFileWrites), std::span(kFileReads)}) {
        for (const Call& call : calls) {
            const auto events = trace.all(call.name);
            ASSERT_EQ(events.size(), 2 * std::size(kSizes)) << call.name;
            for (std::size_t i = 0; i < events.size(); ++i) {
                expect_of(events[i], 0, kSizes[i % std::size(kSizes)]);
            }
        }
    }
}

TEST_F(Fingerprints, of_calls_on_a_unix_socket_are_those_of_what_was_moved) {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    const base::Fd to(ends[0]), from(ends[1]);
    expect_streamed(to.get(), from.get());
}

TEST_F(Fingerprints, of_calls_on_a_tcp_connection_are_those_of_what_was_moved) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const name = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof(address);
    const base::Fd listener(socket(AF_INET, SOCK_STREAM, 0)), to(socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(bind(listener.get(), name, size), 0);
    ASSERT_EQ(listen(listener.get(), 1), 0);
    ASSERT_EQ(getsockname(listener.get(), name, &size), 0);
    ASSERT_EQ(connect(to.get(), name, size), 0);
    const base::Fd from(accept(listener.get(), nullptr, nullptr));
    expect_streamed(to.get(), from.get());
}

}  // namespace
}  // namespace dyetrace::test
