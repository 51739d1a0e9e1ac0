// Reads a segment that anyone may have written, cut or damaged, also while it grows.
//
//   TRY(SegmentReader reader, SegmentReader::open(path, SegmentEnd::kMayGrow));
//   for (const BlockHeader& block : reader.blocks()) {           in the order of the file; sort them as you like
//       TRY(std::span<const std::byte> records, reader.read(block));
//       RecordWalk walk(records); …
//   }
//   for (const LostRange& lost : reader.lost()) { … }            what damage cost
//
// What is refused with an Error: another file, a newer format, an unknown feature that must be understood (of the
// segment, a block, or a record). What costs only itself and is told by lost(): a damaged block. What is skipped:
// blocks and records that say they may be.
//
// Records that read() returns are whole, as many as the header says, and at least as long as their type's fields.
//
// Limits: a block of at most kBlockRawBytesMax; the list of blocks is in memory (104 bytes each). One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "schema/generated/records.h"
#include "trace/codec.h"
#include "trace/segment_format.h"

namespace dyetrace::trace {

// What a segment without an end block means.
enum class SegmentEnd {
    kComplete,      // damage: it was cut
    kMayGrow,       // nothing: it is being written
    kRecorderDied,  // everything after complete_ns() may be missing; said even if there is an end block
};

// A gap that the recorder could not write down itself.
struct LostRange {
    std::uint16_t host_index = 0;
    schema::Gap gap{};
};

// Nobody knows how many events, from `begin_ns` to `end_ns`, on all CPUs of host 0.
LostRange lost_range(std::uint64_t begin_ns, std::uint64_t end_ns, schema::GapReason reason);

class SegmentReader;

// Takes payloads out of a segment. One per thread; any number on one SegmentReader.
class BlockReader {
  public:
    // The block's records, 8-aligned and valid until the next call; nothing if the block is damaged; an Error if the disk
    // fails or a record must be understood and is not.
    Result<std::optional<std::span<const std::byte>>> read(const SegmentReader& segment,
                                                           const BlockHeader& block);

  private:
    Decompressor decompressor_;
    std::vector<std::byte> stored_;
    std::vector<std::uint64_t> raw_;  // words, so that records are aligned
};

class SegmentReader {
  public:
    // Reads the headers of all blocks. Later growth is not seen.
    static Result<SegmentReader> open(const std::string& path, SegmentEnd end);

    const SegmentHeader& header() const { return header_; }
    const std::string& path() const { return path_; }
    // Intact headers of record blocks.
    const std::vector<BlockHeader>& blocks() const { return blocks_; }
    bool has_end_block() const { return has_end_block_; }
    // All events that ended before are in it or in former segments, as far as its blocks say.
    std::uint64_t complete_ns() const { return complete_ns_; }

    // Does what BlockReader::read does, but a damaged block has no records and is told by lost().
    Result<std::span<const std::byte>> read(const BlockHeader& block);

    // Reads everything once: takes damaged blocks out of blocks() and into lost().
    Result<void> verify();

    const std::vector<LostRange>& lost() const { return lost_; }

  private:
    friend class BlockReader;
    SegmentReader(base::Fd file, std::string path, SegmentEnd end)
        : file_(std::move(file)), path_(std::move(path)), end_(end) {}

    Result<void> read_segment_header();
    Result<void> find_blocks();
    Result<bool> header_at(std::uint64_t position, BlockHeader& header) const;
    Result<std::uint64_t> find_header_after(std::uint64_t position, BlockHeader& header) const;
    Result<void> take(const BlockHeader& header);
    void say_how_it_ends();
    void lose(const BlockHeader& block);
    void lose(std::uint64_t begin_ns, std::uint64_t end_ns, schema::GapReason reason);

    base::Fd file_;
    std::string path_;
    SegmentEnd end_;
    std::uint64_t size_ = 0;
    SegmentHeader header_{};
    std::vector<BlockHeader> blocks_;
    bool has_end_block_ = false;
    std::uint64_t complete_ns_ = 0;
    std::vector<LostRange> lost_;
    BlockReader reader_;
};

}  // namespace dyetrace::trace
