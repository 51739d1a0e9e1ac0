#include "trace/codec.h"

#include <fmt/format.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>

#include "base/check.h"
#include "trace/delta.h"

namespace dyetrace::trace {

std::uint64_t checksum(std::span<const std::byte> bytes) {
    return XXH3_64bits(bytes.data(), bytes.size());
}

void Checksum::Free::operator()(XXH3_state_s* state) const {
    XXH3_freeState(state);
}

Checksum::Checksum() : state_(XXH3_createState()) {
    CHECK(state_ != nullptr, "no memory for a checksum");
    XXH3_64bits_reset(state_.get());
}

void Checksum::add(std::span<const std::byte> bytes) {
    XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
}

std::uint64_t Checksum::value() const {
    return XXH3_64bits_digest(state_.get());
}

void Compressor::Free::operator()(ZSTD_CCtx_s* context) const {
    ZSTD_freeCCtx(context);
}

Compressor::Compressor(int level) : context_(ZSTD_createCCtx()) {
    CHECK(context_ != nullptr, "no memory for a compressor");
    const std::size_t set = ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
    CHECK(ZSTD_isError(set) == 0, "zstd does not know this level");
}

std::size_t Compressor::bound(std::size_t raw_size) {
    return ZSTD_compressBound(raw_size);
}

Compressor::Stored Compressor::compress(std::span<const std::byte> raw,
                                        Codec wanted,
                                        std::span<std::byte> into) {
    CHECK(into.size() >= bound(raw.size()));
    std::span<const std::byte> bytes = raw;
    if (wanted == Codec::kDeltaZstd) {
        const std::size_t size = encode_delta(raw, delta_);
        wanted = size > 0 ? Codec::kDeltaZstd : Codec::kZstd;
        bytes = size > 0 ? std::span<const std::byte>(delta_).first(size) : raw;
    }
    const std::size_t size =
        ZSTD_compress2(context_.get(), into.data(), into.size(), bytes.data(), bytes.size());
    if (ZSTD_isError(size) != 0 || size >= raw.size()) {
        std::copy(raw.begin(), raw.end(), into.begin());
        return {raw.size(), Codec::kNone};
    }
    return {size, wanted};
}

void Decompressor::Free::operator()(ZSTD_DCtx_s* context) const {
    ZSTD_freeDCtx(context);
}

Decompressor::Decompressor() : context_(ZSTD_createDCtx()) {
    CHECK(context_ != nullptr, "no memory for a decompressor");
}

Result<void> Decompressor::unpack(std::span<const std::byte> stored, std::span<std::byte> raw) {
    const std::size_t size =
        ZSTD_decompressDCtx(context_.get(), raw.data(), raw.size(), stored.data(), stored.size());
    if (ZSTD_isError(size) != 0 || size != raw.size()) {
        return Error(ErrorCode::kCorrupt, "payload does not decompress");
    }
    return {};
}

Result<void> Decompressor::decompress(Codec codec,
                                      std::span<const std::byte> stored,
                                      std::span<std::byte> raw) {
    switch (codec) {
        case Codec::kNone:
            if (stored.size() != raw.size()) {
                return Error(ErrorCode::kCorrupt, "stored and raw size differ");
            }
            std::copy(stored.begin(), stored.end(), raw.begin());
            return {};
        case Codec::kZstd:
            return unpack(stored, raw);
        case Codec::kDeltaZstd: {
            const auto size = ZSTD_getFrameContentSize(stored.data(), stored.size());
            if (size > delta_size_max(raw.size())) {  // as are the values that stand for an error
                return Error(ErrorCode::kCorrupt, "payload has a wrong size");
            }
            delta_.resize(std::max<std::size_t>(delta_.size(), size));
            const std::span<std::byte> delta = std::span(delta_).first(size);
            TRY(unpack(stored, delta));
            return decode_delta(delta, raw);
        }
    }
    return Error(ErrorCode::kCorrupt,
                 fmt::format("unknown codec {}", static_cast<unsigned>(codec)));
}

}  // namespace dyetrace::trace
