// Content that is not in memory when a call ends: pages that the kernel never touched (/dev/null takes any address), and that only
// a fault brings in.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "base/random_bytes.h"
#include "kernel/recorded.h"
#include "schema/anchors.h"
#include "schema/content_sum.h"

namespace dyetrace::test {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kBytes = (8u << 20) + 5;

class Later : public KernelTest {
  protected:
    Later() {
        options_.content = schema::ContentLevel::kAnchors;
        options_.look_for_dyes = true;
        options_.dyes = {{1, schema::DyeForm::kPlain, std::string(kDye), false}};
        bytes_.replace(kDyeAt, kDye.size(), kDye);
    }

    void SetUp() override {
        KernelTest::SetUp();
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

    void expect_seen(const Event& event, std::string_view moved) const {
        ASSERT_TRUE(event.content()) << event.name();
        EXPECT_EQ(event.content()->unread_bytes, 0u) << event.name() << " " << moved.size();
        EXPECT_EQ(event.content()->fingerprint,
                  schema::fingerprint(std::as_bytes(std::span(moved)), {}));
        EXPECT_EQ(event.content()->sum, schema::content_sum(std::as_bytes(std::span(moved))));
        const schema::AnchorRule rule(options_.anchor_distance, {});
        EXPECT_EQ(event.anchors().size(), rule.find(std::as_bytes(std::span(moved))).size());
        EXPECT_EQ(event.path(), "/dev/null");
    }

    static constexpr std::string_view kDye = "card=4929123456781234";
    static constexpr std::size_t kDyeAt = 3 * kPage - 7;
    std::string bytes_ = base::random_bytes(kBytes, 21);
};

TEST_F(Later, each_byte_of_a_call_of_any_size_is_seen) {
    constexpr std::size_t kOffset = 2 * kPage + 77;
    const std::vector<std::size_t> sizes = {
        1, 64, 4000, 4096, 65'279, 65'536, 1'000'003, kBytes - kOffset};
    const Trace trace = record([&] {
        const char* memory = map_absent();
        const int null = open("/dev/null", O_WRONLY);
        for (const std::size_t size : sizes) {
            REQUIRE(madvise(const_cast<char*>(memory), kBytes, MADV_DONTNEED) == 0);
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

TEST_F(Later, iovecs_and_what_was_evicted_are_seen) {
    const Trace trace = record([&] {
        char* memory = const_cast<char*>(map_absent(true));
        const iovec parts[] = {
            {memory + 100, 1}, {memory, 0}, {memory + 70'000, 200'000}, {memory + 4000, 200}};
        REQUIRE(writev(open("/dev/null", O_WRONLY), parts, 4) == 200'201);
    });
    expect_seen(trace.only("writev"),
                bytes_.substr(100, 1) + bytes_.substr(70'000, 200'000) + bytes_.substr(4000, 200));
}

TEST_F(Later, many_threads_at_once_and_what_they_do_next) {
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

TEST_F(Later, what_nobody_can_read_is_unread) {
    const Trace trace = record([&] {
        char* memory = const_cast<char*>(map_absent());
        REQUIRE(munmap(memory + 2 * kPage, kPage) == 0);
        REQUIRE(write(open("/dev/null", O_WRONLY), memory, 4 * kPage) == 4 * kPage);
    });
    EXPECT_EQ(trace.only("write").content()->unread_bytes, kPage);
    EXPECT_TRUE(trace.only("write").dye_hits().empty());
}

// The one who would bring the page is the one who waits for it.
TEST_F(Later, memory_that_a_program_fills_itself_is_not_touched) {
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
            mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        REQUIRE(memory != MAP_FAILED);
        uffdio_register range{.range = {reinterpret_cast<std::uint64_t>(memory), 3 * kPage},
                              .mode = UFFDIO_REGISTER_MODE_MISSING,
                              .ioctls = 0};
        REQUIRE(ioctl(faults, UFFDIO_REGISTER, &range) == 0);
        REQUIRE(write(open("/dev/null", O_WRONLY), memory, 3 * kPage) == 3 * kPage);
    });
    EXPECT_EQ(trace.only("write").content()->unread_bytes, 3 * kPage);
}

}  // namespace
}  // namespace dyetrace::test
