// Makes system calls and says what each took.
//
//   bench_load CALL COUNT                      a tight loop of COUNT calls on CPU 1 (or 0); prints nanoseconds per call
//   bench_load blocks SIZE COUNT               COUNT writes of SIZE random bytes into memory, at one place; nanoseconds per call
//   bench_load rate THREADS PER_SECOND SECONDS one-byte reads at this rate in total, threads spread over all CPUs; prints
//                                              the calls made
//   CALL: getppid, pread (1 byte of a file in memory), write (1 byte to /dev/null), pipe (1 byte written or read),
//         tcp (1 byte sent or received over loopback), epoll_ctl (a member changed), epoll_wait (one member is ready)
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kThreadsMax = 64;
constexpr auto kBurstInterval = std::chrono::milliseconds(1);
constexpr char kFile[] = "/proc/self/exe";

[[noreturn]] void give_up(const char* what) {
    std::perror(what);
    std::exit(1);
}

void require(ssize_t result) {
    if (result != 1) {
        give_up("bench_load: a call failed");
    }
}

void run_on_cpu(int number) {
    cpu_set_t cpu;
    CPU_ZERO(&cpu);
    CPU_SET(static_cast<std::size_t>(number) % std::thread::hardware_concurrency(), &cpu);
    sched_setaffinity(0, sizeof(cpu), &cpu);
}

int open_or_give_up(const char* path, int flags) {
    const int fd = open(path, flags | O_CLOEXEC);
    if (fd < 0) {
        give_up(path);
    }
    return fd;
}

// Both ends of a TCP connection over loopback.
std::pair<int, int> connected() {
    sockaddr_in address{};
    socklen_t length = sizeof(address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int at_once = 1;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof(at_once));
    if (bind(listener, any, length) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, any, &length) != 0 || connect(client, any, length) != 0) {
        give_up("a connection over loopback");
    }
    return {client, accept(listener, nullptr, nullptr)};
}

template <typename Call>
void measure(std::uint64_t count, Call call) {
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count / 10, 1000); ++i) {
        call(i);  // warm
    }
    const auto begin = Clock::now();
    for (std::uint64_t i = 0; i < count; ++i) {
        call(i);
    }
    const std::chrono::duration<double, std::nano> taken = Clock::now() - begin;
    std::printf("%.1f\n", taken.count() / static_cast<double>(count));
}

int loop(std::string_view call, std::uint64_t count) {
    run_on_cpu(1);
    char byte = 0;
    if (call == "getppid") {
        measure(count, [](std::uint64_t) { syscall(SYS_getppid); });
    } else if (call == "pread") {
        const int file = open_or_give_up(kFile, O_RDONLY);
        measure(count, [&](std::uint64_t i) {
            require(pread(file, &byte, 1, static_cast<off_t>(i % 4096)));
        });
    } else if (call == "write") {
        const int file = open_or_give_up("/dev/null", O_WRONLY);
        measure(count, [&](std::uint64_t) { require(write(file, &byte, 1)); });
    } else if (call == "pipe") {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) {
            give_up("pipe2");
        }
        measure(count, [&](std::uint64_t i) {
            require(i % 2 == 0 ? write(ends[1], &byte, 1) : read(ends[0], &byte, 1));
        });
    } else if (call == "tcp") {
        const std::pair<int, int> ends = connected();
        measure(count, [&](std::uint64_t i) {
            require(i % 2 == 0 ? write(ends.first, &byte, 1) : read(ends.second, &byte, 1));
        });
    } else if (call == "epoll_ctl" || call == "epoll_wait") {
        const std::pair<int, int> ends = connected();
        const int set = epoll_create1(EPOLL_CLOEXEC);
        epoll_event event{.events = EPOLLIN | EPOLLOUT, .data = {.fd = ends.first}};
        require(1 + epoll_ctl(set, EPOLL_CTL_ADD, ends.first, &event));
        if (call == "epoll_ctl") {
            measure(count, [&](std::uint64_t) {
                require(1 + epoll_ctl(set, EPOLL_CTL_MOD, ends.first, &event));
            });
        } else {
            measure(count, [&](std::uint64_t) { require(epoll_wait(set, &event, 1, -1)); });
        }
    } else {
        return 2;
    }
    return 0;
}

int blocks(std::size_t size, std::uint64_t count) {
    run_on_cpu(1);
    std::mt19937_64 random(size);
    std::vector<std::uint64_t> block(size / sizeof(std::uint64_t) + 1);
    std::generate(block.begin(), block.end(), random);
    const int file = memfd_create("blocks", MFD_CLOEXEC);
    if (file < 0) {
        give_up("memfd_create");
    }
    measure(count, [&](std::uint64_t) {
        require(pwrite(file, block.data(), size, 0) == static_cast<ssize_t>(size) ? 1 : 0);
    });
    return 0;
}

// A burst each millisecond; a thread that was late makes up for it.
std::uint64_t keep_rate(int cpu, std::uint64_t per_second, std::uint64_t seconds) {
    run_on_cpu(cpu);
    const int file = open_or_give_up(kFile, O_RDONLY);
    const auto begin = Clock::now();
    std::uint64_t made = 0;
    while (made < per_second * seconds) {
        const auto elapsed =
            std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count();
        const std::uint64_t due = std::min(
            per_second * seconds, per_second * static_cast<std::uint64_t>(elapsed) / 1'000'000);
        for (char byte = 0; made < due; ++made) {
            require(pread(file, &byte, 1, static_cast<off_t>(made % 4096)));
        }
        std::this_thread::sleep_for(kBurstInterval);
    }
    return made;
}

int rate(int threads, std::uint64_t per_second, std::uint64_t seconds) {
    if (threads < 1 || threads > kThreadsMax) {
        return 2;
    }
    std::vector<std::uint64_t> made(static_cast<std::size_t>(threads));
    std::vector<std::thread> running;
    for (int number = 0; number < threads; ++number) {
        running.emplace_back([&made, number, threads, per_second, seconds] {
            made[static_cast<std::size_t>(number)] =
                keep_rate(number, per_second / static_cast<std::uint64_t>(threads), seconds);
        });
    }
    std::uint64_t total = 0;
    for (int number = 0; number < threads; ++number) {
        running[static_cast<std::size_t>(number)].join();
        total += made[static_cast<std::size_t>(number)];
    }
    std::printf("%llu\n", static_cast<unsigned long long>(total));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 3) {
        return loop(argv[1], std::strtoull(argv[2], nullptr, 10));
    }
    if (argc == 4 && std::string_view(argv[1]) == "blocks") {
        return blocks(std::strtoull(argv[2], nullptr, 10), std::strtoull(argv[3], nullptr, 10));
    }
    if (argc == 5 && std::string_view(argv[1]) == "rate") {
        return rate(std::atoi(argv[2]),
                    std::strtoull(argv[3], nullptr, 10),
                    std::strtoull(argv[4], nullptr, 10));
    }
    return 2;
}
