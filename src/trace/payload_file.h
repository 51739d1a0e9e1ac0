// The bytes that calls moved, as they lie in the file `payload` of a trace that was recorded with --content=bytes.
//
//   payload_header | block | block | … | block of accounting
//   block = payload_block, `stored_size` bytes, zeros up to the next multiple of 8
//   raw bytes of a block = payload_entry, `length` bytes, zeros up to the next multiple of 8; payload_entry …
//
// docs/trace_format.md is the normative page. An entry belongs to the event with this CPU and sequence, of the trace's only
// host; an event's entries do not overlap, come in any order, and leave out what was lost or not wanted.
//
//   TRY(PayloadWriter writer, PayloadWriter::create(folder.path()));          the recorder
//   TRY(writer.add(cpu, sequence, position, bytes));
//   TRY(writer.close(accounting));
//
//   TRY(PayloadReader reader, PayloadReader::open(path));                     anyone, also while it grows
//   TRY(reader.scan([](const PayloadEntry& entry, PayloadPlace place) { … }));
//   TRY(const std::span<const std::byte> bytes, reader.bytes_at(place));
//
// A damaged block costs what is in it. Limits: one thread; blocks of kPayloadBlockBytes and one entry more; a reader holds
// kBlocksCached of them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "trace/append_file.h"
#include "trace/codec.h"

namespace dyetrace::trace {

inline constexpr std::uint64_t kPayloadMagic = 0x6f6c796170657964;  // "dyepaylo"
inline constexpr std::uint32_t kPayloadBlockMagic = 0x4b4c4250;     // "PBLK"
inline constexpr std::size_t kPayloadBlockBytes = 1u
                                                  << 20;  // zstd finds little more in larger ones
inline constexpr std::size_t kPayloadEntryBytesMax = 1u << 20;
inline constexpr std::size_t kBlocksCached = 8;  // one per stream that is read at once, as a guess

struct PayloadHeader {
    std::uint64_t magic;
    std::uint32_t format_version;
    std::uint32_t header_size;
    std::uint64_t
        must_understand;     // flags: a reader that does not know one of them refuses the file
    std::uint64_t checksum;  // XXH3-64 of the bytes before it
};
static_assert(sizeof(PayloadHeader) == 32);

enum class PayloadBlockType : std::uint16_t { kEntries = 1, kAccounting = 2 };

struct PayloadBlock {
    std::uint32_t magic;
    PayloadBlockType type;
    std::uint16_t codec;     // trace::Codec: none or zstd
    std::uint64_t position;  // of this header in the file
    std::uint32_t raw_size;
    std::uint32_t stored_size;
    std::uint64_t checksum;  // XXH3-64 of the bytes before it and the stored ones
};
static_assert(sizeof(PayloadBlock) == 32);

struct PayloadEntry {
    std::uint64_t sequence;  // of the event, on its CPU
    std::uint64_t position;  // of the first byte in what the call moved
    std::uint32_t length;
    std::uint16_t cpu;
    std::uint16_t reserved;
};
static_assert(sizeof(PayloadEntry) == 24);

// What became of payload, in bytes: generated = kept + lost + left_out. `redacted` ones are kept, as '*'.
struct PayloadTotals {
    std::uint64_t generated = 0;
    std::uint64_t kept = 0;
    std::uint64_t lost = 0;  // the rings, or the room to wait for its event, were full
    std::uint64_t left_out =
        0;  // beyond bytes:SIZE, and of events that the condition left out or that were lost
    std::uint64_t redacted = 0;
};
static_assert(sizeof(PayloadTotals) == 40);

std::string payload_path(const std::string& trace_path);

class PayloadWriter {
  public:
    static Result<PayloadWriter> create(const std::string& trace_path);
    static Result<PayloadWriter> create(std::unique_ptr<AppendFile> file);

    // At most kPayloadEntryBytesMax. After an Error it is closed.
    Result<void> add(std::uint16_t cpu,
                     std::uint64_t sequence,
                     std::uint64_t position,
                     std::span<const std::byte> bytes);
    Result<void> flush();
    Result<void> close(const PayloadTotals& totals);

  private:
    explicit PayloadWriter(std::unique_ptr<AppendFile> file);
    Result<void> write_block(PayloadBlockType type, std::span<const std::byte> raw);

    std::unique_ptr<AppendFile> file_;
    Compressor compressor_;
    std::vector<std::byte> raw_, stored_;
    std::uint64_t position_ = 0;
};

// Where an entry's bytes are.
struct PayloadPlace {
    std::uint64_t block = 0;  // position of its header
    std::uint32_t offset = 0, length = 0;
};

class PayloadReader {
  public:
    // kNotFound: the trace has no payload.
    static Result<PayloadReader> open(const std::string& trace_path);

    // All entries, in the order in which they were written. Setting `*cancelled` makes it kInterrupted.
    Result<void> scan(const std::function<void(const PayloadEntry&, const PayloadPlace&)>& each,
                      const std::atomic<bool>* cancelled = nullptr);
    // Valid until the next call.
    Result<std::span<const std::byte>> bytes_at(const PayloadPlace& place);

    // Known after scan().
    std::uint64_t damaged_blocks() const { return damaged_; }
    const std::optional<PayloadTotals>& totals() const { return totals_; }  // nothing: not closed

  private:
    struct Block {
        std::uint64_t position = 0;
        std::vector<std::byte> raw;
    };

    explicit PayloadReader(base::Fd file) : file_(std::move(file)) {}
    Result<bool> read_header(std::uint64_t position, PayloadBlock& block) const;
    Result<bool> find_header(std::uint64_t position, PayloadBlock& block);
    Result<bool> read_raw(const PayloadBlock& block, std::vector<std::byte>& raw);

    base::Fd file_;
    Decompressor decompressor_;
    std::vector<std::byte> stored_;
    std::list<Block> cached_;  // the one that was used last first
    std::uint64_t damaged_ = 0;
    std::optional<PayloadTotals> totals_;
};

}  // namespace dyetrace::trace
