// Calls its own functions a known number of times, and says what it did: a line of JSON.
//
//   functions orders N        work() N times on two kinds of orders, deep() down to five, marks of sys/sdt.h
//   functions threads T N     T threads call work() N times each
//   functions many            each of 8,000 functions: f0000 once, f0001 twice, … f0006 seven times, f0007 once, …

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

#ifdef __clang__  // which has no word for what it does not do
#define KEPT extern "C" __attribute__((noinline, used))
#else
#define KEPT extern "C" __attribute__((noinline, noclone, used))
#endif

// As sys/sdt.h writes a mark, which is a package of its own. The semaphore is a counter that the kernel adds to for who listens.
#define MARK(name, semaphore, arguments, first, second)                         \
    __asm__ volatile(                                                           \
        "990: nop\n"                                                            \
        ".pushsection .note.stapsdt,\"\",\"note\"\n"                            \
        ".balign 4\n"                                                           \
        ".4byte 992f-991f, 994f-993f, 3\n"                                      \
        "991: .asciz \"stapsdt\"\n"                                             \
        "992: .balign 4\n"                                                      \
        "993: .8byte 990b\n"                                                    \
        ".8byte _.stapsdt.base\n"                                               \
        ".8byte " semaphore                                                     \
        "\n"                                                                    \
        ".asciz \"shop\"\n"                                                     \
        ".asciz \"" name                                                        \
        "\"\n"                                                                  \
        ".asciz \"" arguments                                                   \
        "\"\n"                                                                  \
        "994: .balign 4\n"                                                      \
        ".popsection\n"                                                         \
        ".ifndef _.stapsdt.base\n"                                              \
        ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
        ".weak _.stapsdt.base\n"                                                \
        ".hidden _.stapsdt.base\n"                                              \
        "_.stapsdt.base: .space 1\n"                                            \
        ".size _.stapsdt.base, 1\n"                                             \
        ".popsection\n"                                                         \
        ".endif\n" ::"r"(first),                                                \
        "r"(second))

extern "C" {
volatile std::uint16_t order_semaphore __attribute__((section(".probes"))) = 0;
}

struct Customer {
    std::int32_t number;
    const char* name;
};

struct Order {
    std::uint64_t id;
    Customer* customer;
    std::int16_t amount;
    unsigned is_new : 1, level : 5;
};

namespace {

std::uint64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
}

volatile std::uint64_t inside_ns = 0, sink = 0;

}  // namespace

#include "many_functions.h"

KEPT int work(int amount, const char* kind, const Order* order) {
    const std::uint64_t begin = now_ns();
    sink = sink + std::strlen(kind) + std::strlen(order->customer->name) + order->id;
    inside_ns = inside_ns + (now_ns() - begin);
    return order->amount - amount;
}

KEPT unsigned long deep(unsigned n) {
    return n == 0 ? 1 : deep(n - 1) * 3 + sink % 1;
}

KEPT std::uint64_t busy(std::uint64_t number) {
    return number * 3 + 1;
}

KEPT int outer(int amount, const char* kind, const Order* order) {
    return work(amount, kind, order) + 1;
}

namespace {

void run_orders(int count) {
    Customer ann{-7, "Ann"}, bob{70'000, "Bob of \xc3\xa9t\xc3\xa9"};
    std::uint64_t outside_ns = 0;
    long results = 0, listened = 0;
    for (int i = 0; i < count; ++i) {
        const bool retail = i % 3 == 0;
        Order order{static_cast<std::uint64_t>(i) << 40,
                    retail ? &ann : &bob,
                    static_cast<std::int16_t>(-i % 100),
                    retail,
                    static_cast<unsigned>(i) % 32};
        const std::uint64_t begin = now_ns();
        results += outer(i % 5 - 2, retail ? "retail" : "wholesale", &order) - 1;
        outside_ns += now_ns() - begin;
        if (order_semaphore > 0) {
            ++listened;
        }
        MARK("order", "order_semaphore", "-4@%0 8@%1", i % 5 - 2, order.customer->name);
        deep(static_cast<unsigned>(i) % 6);
    }
    std::printf(
        "{\"results\": %ld, \"inside_ns\": %llu, \"outside_ns\": %llu, \"listened\": %ld}\n",
        results,
        static_cast<unsigned long long>(inside_ns),
        static_cast<unsigned long long>(outside_ns),
        listened);
}

void run_threads(int threads, int count) {
    std::vector<std::thread> all;
    for (int number = 0; number < threads; ++number) {
        all.emplace_back([count, number] {
            std::uint64_t sum = 0;
            for (int i = 0; i < count; ++i) {
                sum += busy(static_cast<std::uint64_t>(i) * 8 + static_cast<std::uint64_t>(number));
            }
            sink = sum;
        });
    }
    for (std::thread& thread : all) {
        thread.join();
    }
}

void run_many() {
    unsigned number = 0;
    for (unsigned (*const function)(unsigned) : kMany) {
        for (unsigned i = 0; i <= number % 7; ++i) {
            sink = sink + function(i);
        }
        ++number;
    }
}

}  // namespace

int main(int count, char** arguments) {
    const auto number = [&](int i) { return count > i ? std::atoi(arguments[i]) : 0; };
    if (count > 1 && std::strcmp(arguments[1], "orders") == 0) {
        run_orders(number(2));
    } else if (count > 1 && std::strcmp(arguments[1], "threads") == 0) {
        run_threads(number(2), number(3));
    } else if (count > 1 && std::strcmp(arguments[1], "many") == 0) {
        run_many();
    } else {
        std::fputs("functions orders N | threads T N | many\n", stderr);
        return 2;
    }
    return 0;
}
