// Makes a known number of calls: every thread makes COUNT times pread64(FILE, 1 byte), and nothing else after its start.
//
//   calls FILE THREADS COUNT [endless]
//
// Threads are spread over all CPUs. They end by exit_group while they spin, so that the calls besides pread64 are the same
// for every COUNT. "endless": every thread makes COUNT calls, sleeps for 10 ms, and goes on so until the
// program is killed.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

constexpr int kThreadsMax = 64;
constexpr std::uint64_t kFileBytes = 4096;  // or more
constexpr useconds_t kPauseMicroseconds = 10'000;

struct Work {
    int file = -1;
    std::uint64_t count = 0;
    bool endless = false;
    std::atomic<int> running = 0;
    std::atomic<int> next_cpu = 0;
};

void call(Work& work) {
    do {
        for (std::uint64_t i = 0; i < work.count; ++i) {
            char byte = 0;
            if (pread(work.file, &byte, 1, static_cast<off_t>(i % kFileBytes)) != 1) {
                _exit(3);
            }
        }
        if (work.endless) {
            usleep(kPauseMicroseconds);
        }
    } while (work.endless);
    --work.running;
}

// A thread moves itself: with an attribute, glibc would start it behind a lock, and wait for that or not.
void move_to(int number) {
    cpu_set_t cpu;
    CPU_ZERO(&cpu);
    CPU_SET(
        static_cast<std::size_t>(number) % static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN)),
        &cpu);
    sched_setaffinity(0, sizeof(cpu), &cpu);
}

void* run_thread(void* argument) {
    Work& work = *static_cast<Work*>(argument);
    move_to(work.next_cpu++);
    call(work);
    for (;;) {
    }
}

void start_thread(Work& work) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, run_thread, &work) != 0) {
        _exit(4);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        return 2;
    }
    const int threads = std::atoi(argv[2]);
    Work work;
    work.file = open(argv[1], O_RDONLY);
    work.count = std::strtoull(argv[3], nullptr, 10);
    work.endless = argc > 4 && std::string_view(argv[4]) == "endless";
    if (work.file < 0 || threads < 1 || threads > kThreadsMax) {
        return 2;
    }
    work.running = threads;
    for (int number = 1; number < threads; ++number) {
        start_thread(work);
    }
    call(work);
    while (work.running > 0) {
    }
    _exit(0);
}
