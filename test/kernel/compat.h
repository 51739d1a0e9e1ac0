// 32-bit calls from 64-bit code: int 0x80 takes the table and the registers of i386, whoever executes it.
//
//   LowMemory memory;                                      pointers must fit into 32 bits
//   call32(5, memory.put_text("/tmp"), O_RDONLY)
//
// Limits: 64 KiB; what is put is never taken back.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "kernel/recorded.h"
#include "schema/syscalls.h"

namespace dyetrace::test {

// Number of a call in the table of i386.
inline int number_of(std::string_view name) {
    for (const schema::SyscallInfo& call : schema::syscalls_of(schema::Abi::kI386)) {
        if (call.name == name) {
            return call.number;
        }
    }
    return -1;
}

// The arguments as the registers get them; the result, or -errno.
inline int call32([[maybe_unused]] int number,
                  [[maybe_unused]] std::uint32_t a = 0,
                  [[maybe_unused]] std::uint32_t b = 0,
                  [[maybe_unused]] std::uint32_t c = 0,
                  [[maybe_unused]] std::uint32_t d = 0,
                  [[maybe_unused]] std::uint32_t e = 0,
                  [[maybe_unused]] std::uint32_t f = 0) {
#if defined(__x86_64__)
    long result = number;
    // below the red zone, which the compiler may use; ebp cannot be named as an operand
    asm volatile(
        "lea -128(%%rsp), %%rsp\n push %%rbp\n mov %[f], %%ebp\n int $0x80\n pop %%rbp\n"
        "lea 128(%%rsp), %%rsp"
        : "+a"(result)
        : "b"(a), "c"(b), "d"(c), "S"(d), "D"(e), [f] "r"(f)
        : "memory", "r8", "r9", "r10", "r11");
    return static_cast<int>(result);
#else
    std::abort();  // NEEDS_OLD_CALLS
#endif
}

#ifndef MAP_32BIT
#define MAP_32BIT 0  // where there is no call32
#endif

class LowMemory {
  public:
    LowMemory()
        : memory_(mmap(nullptr,
                       kBytes,
                       PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT,
                       -1,
                       0)) {}
    LowMemory(const LowMemory&) = delete;
    LowMemory& operator=(const LowMemory&) = delete;
    ~LowMemory() { munmap(memory_, kBytes); }

    // Address of a copy.
    std::uint32_t put(const void* bytes, std::size_t count) {
        const std::uint32_t address = room(count);
        std::memcpy(at(address), bytes, count);
        return address;
    }
    std::uint32_t put_text(std::string_view text) {
        const std::uint32_t address = room(text.size() + 1);
        std::memcpy(at(address), text.data(), text.size());
        return address;
    }
    template <typename T>
    std::uint32_t put(const T& value) {
        return put(&value, sizeof(value));
    }
    // Address of zeros.
    std::uint32_t room(std::size_t count) {
        require(used_ + count <= kBytes, "memory below 4 GiB is left");
        const auto address =
            static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(memory_) + used_);
        used_ += (count + 15) / 16 * 16;
        return address;
    }
    static void* at(std::uint32_t address) {
        return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
    }

  private:
    static constexpr std::size_t kBytes = 65536;
    void* memory_;
    std::size_t used_ = 0;
};

}  // namespace dyetrace::test
