// The bytes of a segment. docs/trace_format.md is the normative page; this is the same for the compiler.
//
//   segment_header | block | block | … | end block
//
//   block = block_header, `stored_size` bytes of payload, zeros up to the next multiple of 8
//   payload of a records block = whole records (schema/record.h) of one CPU and one stream, compressed by `codec`
//
// A block tells its own position in the file, so that the search for the next block after a damaged one cannot be
// fooled by a recorded file that happens to be a segment itself. All numbers are little-endian.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace dyetrace::trace {

static_assert(std::endian::native == std::endian::little);

inline constexpr std::uint64_t kSegmentMagic = 0x6563617274657964;  // "dyetrace"
inline constexpr std::uint32_t kBlockMagic = 0x4b4c4244;            // "DBLK"

// The version of segments and of the folder. 0 may change until the first release.
inline constexpr std::uint32_t kFormatVersion = 0;

struct SegmentHeader {
    std::uint64_t magic;
    std::uint32_t format_version;
    std::uint32_t
        header_size;  // bytes up to the first block; more than this struct if a later version adds fields
    std::uint64_t
        must_understand;       // flags: a reader that does not know one of them refuses the segment
    std::uint64_t may_ignore;  // flags: a reader that does not know one of them goes on
    std::uint64_t number;      // of the segment in its trace, from 1
    std::uint64_t created_ns;  // CLOCK_BOOTTIME of the recorder's host
    std::uint64_t
        complete_ns;  // all events that ended before are in former segments; 0: before created_ns
    std::uint64_t checksum;  // XXH3-64 of the bytes before it
};
static_assert(sizeof(SegmentHeader) == 64);
static_assert(offsetof(SegmentHeader, header_size) == 12);
static_assert(offsetof(SegmentHeader, number) == 32);
static_assert(offsetof(SegmentHeader, checksum) == 56);

enum class BlockType : std::uint16_t {
    kRecords = 1,
    kEnd = 2,  // the last block of a complete segment; payload: SegmentTotals
};

enum class Codec : std::uint8_t {
    kNone = 0,
    kZstd = 1,       // one frame
    kDeltaZstd = 2,  // the same over what delta.h makes of the records
};

// The greatest lag_us says nothing: the lag is that or more.
inline constexpr std::uint32_t kLagMaxUs = UINT32_MAX;

// Bits of BlockHeader::flags.
inline constexpr std::uint16_t kBlockMayBeSkipped =
    1;  // by a reader that does not know the type or another flag

struct BlockHeader {
    std::uint32_t magic;
    BlockType type;
    std::uint16_t flags;
    std::uint64_t position;    // of this header in the file
    std::uint16_t host_index;  // into the hosts of trace.json
    std::uint16_t cpu;
    std::uint8_t stream;  // schema::Stream
    Codec codec;
    std::uint16_t reserved;  // 0
    std::uint32_t record_count;
    std::uint32_t raw_size;     // bytes of payload before compression
    std::uint32_t stored_size;  // bytes of payload in the file
    std::uint32_t
        lag_us;  // events that ended longer before written_ns are in this block or before it
    std::uint64_t record_types;      // bit min(type, 63) for each type of record inside
    std::uint64_t first_sequence;    // of the first record
    std::uint64_t last_sequence;     // of the last record
    std::uint64_t begin_ns;          // earliest start in it; UINT64_MAX if no record has a time
    std::uint64_t end_ns;            // latest end in it; 0 if no record has a time
    std::uint64_t written_ns;        // CLOCK_BOOTTIME at which the block was made
    std::uint64_t payload_checksum;  // XXH3-64 of the stored payload
    std::uint64_t header_checksum;   // XXH3-64 of the bytes before it
};
static_assert(sizeof(BlockHeader) == 104);
static_assert(offsetof(BlockHeader, position) == 8);
static_assert(offsetof(BlockHeader, stream) == 20);
static_assert(offsetof(BlockHeader, record_count) == 24);
static_assert(offsetof(BlockHeader, record_types) == 40);
static_assert(offsetof(BlockHeader, written_ns) == 80);
static_assert(offsetof(BlockHeader, header_checksum) == 96);

// Payload of the end block: what a whole segment holds.
struct SegmentTotals {
    std::uint64_t blocks;  // without the end block
    std::uint64_t events;  // records of the stream `events`
    std::uint64_t facts;   // records of the stream `facts`
    std::uint64_t raw_bytes;
};
static_assert(sizeof(SegmentTotals) == 32);

inline constexpr std::uint64_t record_type_bit(std::uint16_t type) {
    return std::uint64_t{1} << (type < 63 ? type : 63);
}

inline constexpr std::uint64_t padded(std::uint64_t size) {
    return (size + 7) & ~std::uint64_t{7};
}

// A block's records before compression. Larger blocks compress little better and cost more when they are lost.
inline constexpr std::uint32_t kBlockRawBytes = 256 * 1024;

// What a reader takes for a block at most: anything larger is damage, not data.
inline constexpr std::uint32_t kBlockRawBytesMax = 16 * 1024 * 1024;

// The limits are those of schema's event ids, which are below 2^63: 9 bits of host, 12 of CPU.
inline constexpr std::uint32_t kHostsMax = 512;
inline constexpr std::uint32_t kCpusMax = 4096;

}  // namespace dyetrace::trace
