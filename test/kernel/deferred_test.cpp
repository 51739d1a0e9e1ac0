// Content that is not in memory when a call ends: pages that the kernel never touched (/dev/null takes any address), and that only
// a fault brings in.
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/sockios.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/random_bytes.h"
#include "content/anchors.h"
#include "content/content_sum.h"
#include "kernel/ends.h"
#include "kernel/recorded.h"

namespace dyetrace::test {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kBytes = (8u << 20) + 5;

class Deferred : public KernelTest {
  protected:
    Deferred() {
        options_.content = schema::ContentLevel::kAnchors;
        options_.look_for_dyes = true;
        options_.dyes = {{1, schema::DyeForm::kPlain, std::string(kDye), false}};
        bytes_.replace(kDyeAt, kDye.size(), kDye);
    }

    void SetUp() override {
        KernelTest::SetUp();
        if (IsSkipped()) {
            return;
        }
        const int fd = open(at("file").c_str(), O_CREAT | O_RDWR, 0600);
        ASSERT_EQ(pwrite(fd, bytes_.data(), bytes_.size(), 0), static_cast<ssize_t>(bytes_.size()));
        ASSERT_EQ(fsync(fd), 0);
        close(fd);
    }

    // The bytes in a file that is mapped, and of which no page is in the page tables; nor, if asked, in memory at all.
    const char* map_absent(bool evicted = false) const {
        const int fd = open(at("file").c_str(), O_RDONLY);
        REQUIRE(!evicted || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0);
        void* memory = mmap(nullptr, bytes_.size(), PROT_READ, MAP_PRIVATE, fd, 0);
        REQUIRE(memory != MAP_FAILED);
        return static_cast<const char*>(memory);
    }

    // Another file of that size, of zeros, to be filled through its mapping.
    char* map_empty() const {
        const int fd = open(at("empty").c_str(), O_CREAT | O_RDWR, 0600);
        REQUIRE(ftruncate(fd, static_cast<off_t>(bytes_.size())) == 0);
        void* memory = mmap(nullptr, bytes_.size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        REQUIRE(memory != MAP_FAILED);
        return static_cast<char*>(memory);
    }

    // Three threads that do nothing else, until they are let go.
    static std::vector<std::jthread> map_and_unmap() {
        std::vector<std::jthread> threads(3);
        for (std::jthread& thread : threads) {
            thread = std::jthread([](const std::stop_token& stop) {
                while (!stop.stop_requested()) {
                    void* some =
                        mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                    REQUIRE(some != MAP_FAILED && munmap(some, kPage) == 0);
                }
            });
        }
        return threads;
    }

    static void take_away(const char* memory) {
        REQUIRE(madvise(const_cast<char*>(memory), kBytes, MADV_DONTNEED) == 0);
    }

    static void expect_content(const std::optional<schema::Content>& content,
                               std::string_view moved) {
        ASSERT_TRUE(content) << moved.size();
        EXPECT_EQ(content->unread_bytes, 0u) << moved.size();
        EXPECT_EQ(content->fingerprint, content::fingerprint(std::as_bytes(std::span(moved)), {}));
        EXPECT_EQ(content->sum, content::content_sum(std::as_bytes(std::span(moved))));
    }

    void expect_seen(const Event& event, std::string_view moved) const {
        expect_content(event.content(), moved);
        const content::AnchorRule rule(options_.anchor_distance, {});
        EXPECT_EQ(event.anchors().size(), rule.find(std::as_bytes(std::span(moved))).size());
        EXPECT_EQ(event.path(), "/dev/null");
    }

    static constexpr std::string_view kDye = "card=4929123456781234";
    static constexpr std::size_t kDyeAt = 3 * kPage - 7;
    std::string bytes_ = base::random_bytes(kBytes, 21);
};

TEST_F(Deferred, each_byte_of_a_call_of_any_size_is_seen) {
    constexpr std::size_t kOffset = 2 * kPage + 77;
    const std::vector<std::size_t> sizes = {
        1, 64, 4000, 4096, 65'279, 65'536, 1'000'003, kBytes - kOffset};
    const Trace trace = record([&] {
        const char* memory = map_absent();
        const int null = open("/dev/null", O_WRONLY);
        for (const std::size_t size : sizes) {
            take_away(memory);
            REQUIRE(write(null, memory + kOffset, size) == static_cast<ssize_t>(size));
        }
    });
    ASSERT_EQ(trace.all("write").size(), sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const Event event = trace.nth("write", i);
        expect_seen(event, std::string_view(bytes_).substr(kOffset, sizes[i]));
        const std::size_t begin = kDyeAt - kOffset;
        if (sizes[i] >= begin + kDye.size()) {
            EXPECT_EQ(event.dye_hits(),
                      (std::vector<DyeHit>{
                          {1, schema::DyeForm::kPlain, static_cast<std::int64_t>(begin)}}));
        } else {
            EXPECT_TRUE(event.dye_hits().empty());
        }
    }
}

TEST_F(Deferred, iovecs_and_what_was_evicted_are_seen) {
    const Trace trace = record([&] {
        char* memory = const_cast<char*>(map_absent(true));
        const iovec parts[] = {
            {memory + 100, 1}, {memory, 0}, {memory + 70'000, 200'000}, {memory + 4000, 200}};
        REQUIRE(writev(open("/dev/null", O_WRONLY), parts, 4) == 200'201);
    });
    expect_seen(trace.only("writev"),
                bytes_.substr(100, 1) + bytes_.substr(70'000, 200'000) + bytes_.substr(4000, 200));
}

TEST_F(Deferred, many_threads_at_once_and_what_they_do_next) {
    constexpr int kThreads = 8, kCalls = 40;
    constexpr std::size_t kSize = 30'000;
    const auto begin = [](int thread, int call) {
        return static_cast<std::size_t>(thread * kCalls + call) * 20'011;
    };
    const Trace trace = record([&] {
        const char* memory = map_absent();
        const int null = open("/dev/null", O_WRONLY);
        std::vector<std::thread> threads;
        threads.reserve(kThreads);
        for (int i = 0; i < kThreads; ++i) {
            threads.emplace_back([&, i] {
                for (int call = 0; call < kCalls; ++call) {
                    const char* from = memory + begin(i, call);
                    REQUIRE(write(null, from, kSize) == kSize);
                    REQUIRE(pwrite(null, from, kSize + 1, i * kCalls + call) == kSize + 1);
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
    });
    const auto second = trace.all("pwrite64");
    ASSERT_EQ(trace.all("write").size(), static_cast<std::size_t>(kThreads * kCalls));
    ASSERT_EQ(second.size(), static_cast<std::size_t>(kThreads * kCalls));
    for (const Event& event : second) {
        const auto place = static_cast<int>(event.argument(3));
        expect_seen(
            event,
            std::string_view(bytes_).substr(begin(place / kCalls, place % kCalls), kSize + 1));
    }
}

// Whoever changes the mappings, or waits to, keeps others from asking what a mapping is.
TEST_F(Deferred, what_other_threads_map_meanwhile_does_not_matter) {
    constexpr int kCalls = 200;
    constexpr std::size_t kSize = 30'000;
    const Trace trace = record([&] {
        const char* memory = map_absent();
        const int null = open("/dev/null", O_WRONLY);
        const std::vector<std::jthread> others = map_and_unmap();
        for (std::size_t call = 0; call < kCalls; ++call) {
            REQUIRE(write(null, memory + call * kSize, kSize) == kSize);
        }
    });
    const auto calls = trace.all("write");
    ASSERT_EQ(calls.size(), static_cast<std::size_t>(kCalls));
    for (std::size_t call = 0; call < kCalls; ++call) {
        expect_seen(calls[call], std::string_view(bytes_).substr(call * kSize, kSize));
    }
}

// The bytes of the first message are taken away while the call waits for room for the second, which the ends do not have.
TEST_F(Deferred, each_message_that_is_sent_is_seen) {
    constexpr std::size_t kFirst = 50'001, kSecond = 4'000'000;
    constexpr int kRoom = 200'000;
    const Trace trace = record([&] {
        const char* memory = map_absent();
        const Ends ends = tcp_ends();
        REQUIRE(setsockopt(ends.from, SOL_SOCKET, SO_SNDBUF, &kRoom, sizeof(kRoom)) == 0);
        REQUIRE(setsockopt(ends.to, SOL_SOCKET, SO_RCVBUF, &kRoom, sizeof(kRoom)) == 0);
        std::thread other([&] {
            int waiting = 0;
            while (waiting <= static_cast<int>(kFirst)) {
                REQUIRE(ioctl(ends.to, FIONREAD, &waiting) == 0);
            }
            take_away(memory);
            std::string received(kFirst + kSecond, 0);
            REQUIRE(recv(ends.to, received.data(), received.size(), MSG_WAITALL) ==
                    static_cast<ssize_t>(received.size()));
        });
        char* bytes = const_cast<char*>(memory);
        messages(SYS_sendmmsg, ends.from, {{bytes + 77, kFirst}, {bytes + (1 << 20), kSecond}});
        other.join();
    });
    const auto parts = trace.only("sendmmsg").parts();
    ASSERT_EQ(parts.size(), 2u);
    expect_content(parts[0].content(), std::string_view(bytes_).substr(77, kFirst));
    expect_content(parts[1].content(), std::string_view(bytes_).substr(1 << 20, kSecond));
    EXPECT_EQ(parts[0].operation(), "sendmsg");
    EXPECT_EQ(parts[0].stream_offset(), 0);
    EXPECT_EQ(parts[1].stream_offset(), kFirst);
    ASSERT_TRUE(schema::dyes_found_in(parts[0].raw()));
    EXPECT_EQ(schema::dyes_found_in(parts[0].raw())->hits, 1u);
}

TEST_F(Deferred, each_message_that_is_received_is_seen) {
    constexpr std::size_t kFirst = 50'001, kSecond = 60'000;
    const Trace trace = record([&] {
        char* memory = map_empty();
        const Ends ends = unix_ends(SOCK_DGRAM);
        std::thread other([&] {
            REQUIRE(send(ends.from, bytes_.data(), kFirst, 0) == kFirst);
            int waiting = 1;
            while (waiting > 0) {
                REQUIRE(ioctl(ends.from, SIOCOUTQ, &waiting) == 0);
            }
            take_away(memory);
            REQUIRE(send(ends.from, bytes_.data() + kFirst, kSecond, 0) == kSecond);
        });
        messages(SYS_recvmmsg, ends.to, {{memory + 5, kFirst}, {memory + (1 << 20), kSecond}});
        other.join();
    });
    const auto parts = trace.only("recvmmsg").parts();
    ASSERT_EQ(parts.size(), 2u);
    expect_content(parts[0].content(), std::string_view(bytes_).substr(0, kFirst));
    expect_content(parts[1].content(), std::string_view(bytes_).substr(kFirst, kSecond));
}

// /dev/null touches nothing; what is read is taken away before anybody asks whether it was.
TEST_F(Deferred, each_control_block_is_seen) {
    constexpr std::size_t kWritten = 300'001, kRead = 1'000'003;
    const Trace trace = record([&] {
        char* written = const_cast<char*>(map_absent());
        char* memory = map_empty();
        aio_context_t context = 0;
        REQUIRE(syscall(SYS_io_setup, 8, &context) == 0);
        const iovec parts[] = {{memory + 1, 3}, {memory + kPage + 9, kRead - 3}};
        iocb blocks[2]{};
        blocks[0].aio_lio_opcode = IOCB_CMD_PWRITE;
        blocks[0].aio_fildes = static_cast<std::uint32_t>(open("/dev/null", O_WRONLY));
        blocks[0].aio_buf = reinterpret_cast<std::uint64_t>(written + 4000);
        blocks[0].aio_nbytes = kWritten;
        blocks[1].aio_lio_opcode = IOCB_CMD_PREADV;
        blocks[1].aio_fildes = static_cast<std::uint32_t>(open(at("file").c_str(), O_RDONLY));
        blocks[1].aio_buf = reinterpret_cast<std::uint64_t>(parts);
        blocks[1].aio_nbytes = 2;
        blocks[1].aio_offset = 11;
        iocb* list[] = {&blocks[0], &blocks[1]};
        REQUIRE(syscall(SYS_io_submit, context, 2, list) == 2);
        io_event done[2]{};
        take_away(memory);
        REQUIRE(syscall(SYS_io_getevents, context, 2, 2, done, nullptr) == 2);
        REQUIRE(done[0].res == static_cast<std::int64_t>(kWritten));
        REQUIRE(done[1].res == static_cast<std::int64_t>(kRead));
    });
    const auto parts = trace.only("io_getevents").parts();
    ASSERT_EQ(parts.size(), 2u);
    expect_content(parts[0].content(), std::string_view(bytes_).substr(4000, kWritten));
    expect_content(parts[1].content(), std::string_view(bytes_).substr(11, kRead));
    EXPECT_EQ(parts[1].operation(), "preadv");
    EXPECT_EQ(parts[1].file_offset(), 11);
}

TEST_F(Deferred, what_nobody_can_read_is_unread) {
    const Trace trace = record([&] {
        char* memory = const_cast<char*>(map_absent());
        REQUIRE(munmap(memory + 2 * kPage, kPage) == 0);
        REQUIRE(write(open("/dev/null", O_WRONLY), memory, 4 * kPage) == 4 * kPage);
    });
    EXPECT_EQ(trace.only("write").content()->unread_bytes, kPage);
    EXPECT_TRUE(trace.only("write").dye_hits().empty());
}

// The one who would bring the page is the one who waits for it; whether one can ask what the mapping is, or not.
TEST_F(Deferred, memory_that_a_program_fills_itself_is_not_touched) {
    constexpr std::size_t kSize = 3 * kPage, kCalls = 100;
    const int probe = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC));
    if (probe < 0) {
        GTEST_SKIP() << "this kernel has no userfaultfd";
    }
    close(probe);
    const Trace trace = record([&] {
        const int faults = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC));
        uffdio_api api{.api = UFFD_API, .features = 0, .ioctls = 0};
        REQUIRE(ioctl(faults, UFFDIO_API, &api) == 0);
        void* memory =
            mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        REQUIRE(memory != MAP_FAILED);
        uffdio_register range{.range = {reinterpret_cast<std::uint64_t>(memory), kSize},
                              .mode = UFFDIO_REGISTER_MODE_MISSING,
                              .ioctls = 0};
        REQUIRE(ioctl(faults, UFFDIO_REGISTER, &range) == 0);
        const int null = open("/dev/null", O_WRONLY);
        REQUIRE(write(null, memory, kSize) == kSize);
        const std::vector<std::jthread> others = map_and_unmap();
        for (std::size_t call = 1; call < kCalls; ++call) {
            REQUIRE(write(null, memory, kSize) == kSize);
        }
    });
    const auto calls = trace.all("write");
    ASSERT_EQ(calls.size(), kCalls);
    for (const Event& call : calls) {
        EXPECT_EQ(call.content()->unread_bytes, kSize);
    }
}

}  // namespace
}  // namespace dyetrace::test
