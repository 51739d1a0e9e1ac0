// Compression and checksums of blocks; contexts and buffers are made once and used again.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "trace/segment_format.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;
struct XXH3_state_s;

namespace dyetrace::trace {

std::uint64_t checksum(std::span<const std::byte> bytes);

// The same over bytes that come in pieces.
class Checksum {
  public:
    Checksum();
    void add(std::span<const std::byte> bytes);
    std::uint64_t value() const;

  private:
    struct Free {
        void operator()(XXH3_state_s* state) const;
    };
    std::unique_ptr<XXH3_state_s, Free> state_;
};

class Compressor {
  public:
    explicit Compressor(int level);

    // Bytes that `compress` may need at most for `raw_size` bytes.
    static std::size_t bound(std::size_t raw_size);

    // Writes the stored form of `raw` to the front of `into` (at least bound() bytes) and says how many and how: as `wanted`
    // or simpler.
    struct Stored {
        std::size_t size;
        Codec codec;
    };
    Stored compress(std::span<const std::byte> raw, Codec wanted, std::span<std::byte> into);

  private:
    struct Free {
        void operator()(ZSTD_CCtx_s* context) const;
    };
    std::unique_ptr<ZSTD_CCtx_s, Free> context_;
    std::vector<std::byte> delta_;
};

class Decompressor {
  public:
    Decompressor();

    // Fills exactly `raw`; anything else is kCorrupt.
    Result<void> decompress(Codec codec,
                            std::span<const std::byte> stored,
                            std::span<std::byte> raw);

  private:
    struct Free {
        void operator()(ZSTD_DCtx_s* context) const;
    };
    Result<void> unpack(std::span<const std::byte> stored, std::span<std::byte> raw);

    std::unique_ptr<ZSTD_DCtx_s, Free> context_;
    std::vector<std::byte> delta_;
};

}  // namespace dyetrace::trace
