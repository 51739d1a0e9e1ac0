// The fingerprint of content: what stands for bytes without keeping them, in every trace and for everybody who recomputes it.
//
//   plain   XXH64 of the bytes, seed 0                     `xxh64sum FILE` gives the same
//   keyed   SipHash-2-4 with a key of 16 bytes, of the eight bytes of the plain one, little-endian
//
// docs/content.md says it bit by bit; src/kernel/content/content.bpf.c computes the same in the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

struct XXH64_state_s;

namespace dyetrace::content {

struct ContentKey {
    std::uint64_t half[2];  // bytes 0 to 7 and 8 to 15, little-endian
};

class Fingerprint {
  public:
    explicit Fingerprint(std::optional<ContentKey> key = std::nullopt);
    void add(std::span<const std::byte> bytes);
    std::uint64_t value() const;

  private:
    struct Free {
        void operator()(XXH64_state_s* state) const;
    };
    std::unique_ptr<XXH64_state_s, Free> state_;
    std::optional<ContentKey> key_;
};

std::uint64_t fingerprint(std::span<const std::byte> bytes,
                          const std::optional<ContentKey>& key = std::nullopt);

}  // namespace dyetrace::content
