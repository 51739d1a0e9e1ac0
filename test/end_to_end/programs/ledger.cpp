// Keeps a book of its own calls: what a recorder that is killed says to be missing is compared with it.
//
//   ledger BOOK THREADS
//
// Every thread makes pread64(/dev/zero, 1 byte, its number << 32 | n) for n = 0, 1, 2, …, and notes after call n in BOOK when it ended. The load is uneven:
// bursts of 1 to 20,000 calls, then 0 to 30 ms of nothing; every second thread makes 1 to 20 calls at a time. Ends when BOOK is full or it is killed.
//
//   BOOK   u64 count, u64 end_ns[kCallsMax]   for each thread; times are CLOCK_BOOTTIME
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr std::uint64_t kCallsMax = 16u << 20;  // of a thread
constexpr int kThreadsMax = 64;

struct Page {
    std::atomic<std::uint64_t> count;
    std::uint64_t end_ns[kCallsMax];
};

std::uint64_t boot_ns() {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(now.tv_nsec);
}

void call(Page& page, int zeros, std::uint64_t number) {
    std::minstd_rand random(static_cast<unsigned>(number + 1));
    const std::uint64_t burst_max = number % 2 == 0 ? 20'000u : 20u;
    std::uint64_t n = 0;
    while (n < kCallsMax) {
        for (std::uint64_t left = 1 + random() % burst_max; left > 0 && n < kCallsMax; --left) {
            char byte = 0;
            if (pread(zeros, &byte, 1, static_cast<off_t>(number << 32 | n)) != 1) {
                _exit(3);
            }
            page.end_ns[n] = boot_ns();
            page.count.store(++n, std::memory_order_release);
        }
        usleep(static_cast<useconds_t>(random() % 30'000));
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int threads = argc == 3 ? std::atoi(argv[2]) : 0;
    if (threads < 1 || threads > kThreadsMax) {
        return 2;
    }
    const int book = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    const int zeros = open("/dev/zero", O_RDONLY);
    const std::size_t bytes = sizeof(Page) * static_cast<std::size_t>(threads);
    if (book < 0 || zeros < 0 || ftruncate(book, static_cast<off_t>(bytes)) != 0) {
        return 3;
    }
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, book, 0);
    if (memory == MAP_FAILED) {
        return 3;
    }
    auto* pages = static_cast<Page*>(memory);
    std::vector<std::thread> running;
    for (int number = 0; number < threads; ++number) {
        running.emplace_back(
            call, std::ref(pages[number]), zeros, static_cast<std::uint64_t>(number));
    }
    for (std::thread& thread : running) {
        thread.join();
    }
    return 0;
}
