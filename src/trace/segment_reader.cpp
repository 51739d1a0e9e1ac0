#include "trace/segment_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/file.h"
#include "schema/record_info.h"
#include "trace/record_walk.h"

namespace dyetrace::trace {
namespace {

// After damage, headers are looked for in pieces of this size.
constexpr std::size_t kSearchBytes = 256 * 1024;

std::span<const std::byte> checked_bytes(const BlockHeader& header) {
    return std::as_bytes(std::span(&header, 1)).first(offsetof(BlockHeader, header_checksum));
}

// Nothing in a header can be trusted before this.
bool is_intact(const BlockHeader& header, std::uint64_t position) {
    return header.magic == kBlockMagic && header.position == position &&
           header.raw_size <= kBlockRawBytesMax && header.stored_size <= kBlockRawBytesMax &&
           checksum(checked_bytes(header)) == header.header_checksum;
}

std::uint64_t end_of(const BlockHeader& header) {
    return header.position + sizeof(header) + padded(header.stored_size);
}

Error newer(std::string what) {
    return Error(ErrorCode::kUnsupported,
                 std::move(what) + ", which this dyetrace does not know: use a newer dyetrace");
}

// Bytes of the fields of each known type, by id; 0: unknown.
std::array<std::uint16_t, 64> known_sizes() {
    std::array<std::uint16_t, 64> sizes{};
    for (const schema::RecordInfo& info : schema::records()) {
        if (static_cast<std::size_t>(info.id) < sizes.size()) {
            sizes[static_cast<std::size_t>(info.id)] = info.size;
        }
    }
    return sizes;
}

enum class Verdict { kGood, kDamaged, kUnknown };

// Whether `records` is what its header promises. `unknown` is set with kUnknown.
Verdict check_records(std::span<const std::byte> records,
                      std::uint32_t count,
                      std::uint16_t& unknown) {
    static const std::array<std::uint16_t, 64> kSizes = known_sizes();
    RecordWalk walk(records);
    std::uint32_t found = 0;
    for (schema::RecordBytes record = walk.next(); !record.empty(); record = walk.next()) {
        const schema::RecordHeader header = schema::header_of(record);
        const auto type = static_cast<std::uint16_t>(header.type);
        const std::uint16_t size = type < kSizes.size() ? kSizes[type] : std::uint16_t{0};
        if (size == 0 && (header.flags & 1u) == 0) {
            unknown = type;
            return Verdict::kUnknown;
        }
        if (record.size() < size) {
            return Verdict::kDamaged;
        }
        ++found;
    }
    return walk.rest() == 0 && found == count ? Verdict::kGood : Verdict::kDamaged;
}

}  // namespace

Result<SegmentReader> SegmentReader::open(const std::string& path, SegmentEnd end) {
    TRY(base::Fd file, base::open_regular_file(path));
    SegmentReader reader(std::move(file), path, end);
    TRY(reader.size_, base::file_size(reader.file_));
    TRY(reader.read_segment_header().with_context(fmt::format("cannot read '{}'", path)));
    TRY(reader.find_blocks().with_context(fmt::format("cannot read '{}'", path)));
    return reader;
}

// A recorder that dies or runs while it makes a segment leaves less than a header: that is an empty segment.
Result<void> SegmentReader::read_segment_header() {
    TRY(const std::size_t got,
        base::read_up_to_at(file_, std::as_writable_bytes(std::span(&header_, 1)), 0));
    if (got < sizeof(header_)) {
        header_ = {};
        if (end_ == SegmentEnd::kComplete) {
            return Error(ErrorCode::kCorrupt, "it has no segment header");
        }
        return {};
    }
    if (header_.magic != kSegmentMagic) {
        return Error(ErrorCode::kCorrupt, "it is no segment");
    }
    if (header_.format_version > kFormatVersion) {
        return newer(fmt::format("it has format {}", header_.format_version));
    }
    const auto bytes =
        std::as_bytes(std::span(&header_, 1)).first(offsetof(SegmentHeader, checksum));
    if (checksum(bytes) != header_.checksum || header_.header_size < sizeof(header_)) {
        return Error(ErrorCode::kCorrupt, "its segment header is damaged");
    }
    if (header_.must_understand != 0) {
        return newer(fmt::format("it needs the features {:#x}", header_.must_understand));
    }
    complete_ns_ = header_.complete_ns != 0 ? header_.complete_ns : header_.created_ns;
    return {};
}

Result<void> SegmentReader::find_blocks() {
    if (header_.magic == 0) {
        say_how_it_ends();
        return {};
    }
    std::uint64_t position = header_.header_size;
    while (position < size_ && !has_end_block_) {
        BlockHeader header{};
        TRY(const bool intact, header_at(position, header));
        if (!intact) {
            const std::uint64_t before_ns = complete_ns_;
            TRY(const std::uint64_t found, find_header_after(position, header));
            if (found == 0) {
                break;
            }
            lose(before_ns, header.written_ns, schema::GapReason::kDamagedBlock);
        }
        if (end_of(header) > size_) {
            if (end_ == SegmentEnd::kComplete && header.type == BlockType::kRecords) {
                lose(header);
            }
            break;
        }
        TRY(take(header));
        position = end_of(header);
    }
    say_how_it_ends();
    return {};
}

Result<bool> SegmentReader::header_at(std::uint64_t position, BlockHeader& header) const {
    TRY(const std::size_t got,
        base::read_up_to_at(file_, std::as_writable_bytes(std::span(&header, 1)), position));
    return got == sizeof(header) && is_intact(header, position);
}

// Position of the next intact header, or 0. Blocks begin at multiples of 8.
Result<std::uint64_t> SegmentReader::find_header_after(std::uint64_t position,
                                                       BlockHeader& header) const {
    std::vector<std::byte> piece(kSearchBytes + sizeof(BlockHeader));
    for (std::uint64_t at = padded(position + 1); at < size_; at += kSearchBytes) {
        TRY(const std::size_t got, base::read_up_to_at(file_, piece, at));
        for (std::size_t i = 0; i < kSearchBytes && i + sizeof(header) <= got; i += 8) {
            std::memcpy(&header, piece.data() + i, sizeof(header));
            if (is_intact(header, at + i)) {
                return at + i;
            }
        }
    }
    return std::uint64_t{0};
}

Result<void> SegmentReader::take(const BlockHeader& header) {
    if (header.lag_us < kLagMaxUs) {
        const std::uint64_t lag_ns = std::uint64_t{header.lag_us} * 1000;
        complete_ns_ =
            std::max(complete_ns_, header.written_ns - std::min(header.written_ns, lag_ns));
    }
    const bool may_be_skipped = (header.flags & kBlockMayBeSkipped) != 0;
    const bool known = (header.type == BlockType::kRecords || header.type == BlockType::kEnd) &&
                       (header.flags & ~kBlockMayBeSkipped) == 0 &&
                       header.codec <= Codec::kDeltaZstd && header.stream <= 1;
    if (!known) {
        if (may_be_skipped) {
            return {};
        }
        return newer(
            fmt::format("it has a block of type {} with flags {:#x}, codec {} and stream {}",
                        static_cast<unsigned>(header.type),
                        header.flags,
                        static_cast<unsigned>(header.codec),
                        header.stream));
    }
    if (header.type == BlockType::kEnd) {
        has_end_block_ = true;
        return {};
    }
    blocks_.push_back(header);
    return {};
}

void SegmentReader::say_how_it_ends() {
    if (end_ == SegmentEnd::kRecorderDied) {
        lose(complete_ns_, UINT64_MAX, schema::GapReason::kRecorderDied);
    } else if (end_ == SegmentEnd::kComplete && !has_end_block_) {
        lose(complete_ns_, UINT64_MAX, schema::GapReason::kDamagedBlock);
    }
}

Result<std::optional<std::span<const std::byte>>> BlockReader::read(const SegmentReader& segment,
                                                                    const BlockHeader& block) {
    stored_.resize(block.stored_size);
    raw_.resize((block.raw_size + 7) / 8);
    const auto raw = std::as_writable_bytes(std::span(raw_)).first(block.raw_size);
    TRY(const std::size_t got,
        base::read_up_to_at(segment.file_, stored_, block.position + sizeof(block)));
    if (got < stored_.size() || checksum(stored_) != block.payload_checksum ||
        !decompressor_.decompress(block.codec, stored_, raw).ok()) {
        return std::optional<std::span<const std::byte>>();
    }
    std::uint16_t unknown = 0;
    switch (check_records(raw, block.record_count, unknown)) {
        case Verdict::kUnknown:
            return newer(fmt::format("'{}' has records of type {}", segment.path(), unknown));
        case Verdict::kDamaged:
            return std::optional<std::span<const std::byte>>();
        case Verdict::kGood:
            break;
    }
    return std::optional<std::span<const std::byte>>(raw);
}

Result<std::span<const std::byte>> SegmentReader::read(const BlockHeader& block) {
    TRY(const std::optional<std::span<const std::byte>> records, reader_.read(*this, block));
    if (!records) {
        lose(block);
    }
    return records.value_or(std::span<const std::byte>());
}

Result<void> SegmentReader::verify() {
    std::vector<BlockHeader> good;
    for (const BlockHeader& block : blocks_) {
        TRY(const std::span<const std::byte> records, read(block));
        if (!records.empty() || block.raw_size == 0) {
            good.push_back(block);
        }
    }
    blocks_ = std::move(good);
    return {};
}

// Counts what a damaged block whose header is intact lost. If it held facts, no event is lost.
void SegmentReader::lose(const BlockHeader& block) {
    lose(block.begin_ns == UINT64_MAX ? block.written_ns : block.begin_ns,
         block.end_ns == 0 ? block.written_ns : block.end_ns,
         schema::GapReason::kDamagedBlock);
    LostRange& range = lost_.back();
    range.host_index = block.host_index;
    range.gap.cpu = block.cpu;
    range.gap.lost =
        block.stream == static_cast<std::uint8_t>(schema::Stream::kEvents) ? block.record_count : 0;
}

void SegmentReader::lose(std::uint64_t begin_ns, std::uint64_t end_ns, schema::GapReason reason) {
    lost_.push_back(lost_range(begin_ns, end_ns, reason));
    lost_.back().host_index = blocks_.empty() ? std::uint16_t{0} : blocks_.back().host_index;
}

LostRange lost_range(std::uint64_t begin_ns, std::uint64_t end_ns, schema::GapReason reason) {
    LostRange range;
    range.gap.header.size = sizeof(range.gap);
    range.gap.header.type = schema::RecordId::kGap;
    range.gap.begin_ns = begin_ns;
    range.gap.end_ns = end_ns;
    range.gap.lost = UINT64_MAX;
    range.gap.cpu = UINT32_MAX;
    range.gap.reason = static_cast<std::uint8_t>(reason);
    return range;
}

}  // namespace dyetrace::trace
