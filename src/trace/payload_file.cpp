#include "trace/payload_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/file.h"
#include "trace/segment_format.h"

namespace dyetrace::trace {
namespace {

constexpr int kZstdLevel = 1;  // as segments
constexpr std::size_t kRawBytesMax = kPayloadBlockBytes + kPayloadEntryBytesMax + 64;

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}

// Everything in the header but the checksum, which is over this.
std::span<const std::byte> checked_part(const PayloadBlock& block) {
    return bytes_of(block).first(offsetof(PayloadBlock, checksum));
}

std::uint64_t checksum_of(const PayloadBlock& block, std::span<const std::byte> stored) {
    Checksum sum;
    sum.add(checked_part(block));
    sum.add(stored);
    return sum.value();
}

template <typename T>
void append(std::vector<std::byte>& out, const T& value) {
    const auto bytes = bytes_of(value);
    out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

std::string payload_path(const std::string& trace_path) {
    return trace_path + "/payload";
}

PayloadWriter::PayloadWriter(std::unique_ptr<AppendFile> file)
    : file_(std::move(file)), compressor_(kZstdLevel) {}

Result<PayloadWriter> PayloadWriter::create(const std::string& trace_path) {
    TRY(std::unique_ptr<AppendFile> file, create_private_append_file(payload_path(trace_path)));
    return create(std::move(file));
}

Result<PayloadWriter> PayloadWriter::create(std::unique_ptr<AppendFile> file) {
    PayloadWriter writer(std::move(file));
    PayloadHeader header{kPayloadMagic, kFormatVersion, sizeof(PayloadHeader), 0, 0};
    header.checksum = checksum(bytes_of(header).first(offsetof(PayloadHeader, checksum)));
    TRY(writer.file_->append(bytes_of(header)));
    writer.position_ = sizeof(header);
    return writer;
}

Result<void> PayloadWriter::add(std::uint16_t cpu,
                                std::uint64_t sequence,
                                std::uint64_t position,
                                std::span<const std::byte> bytes) {
    CHECK(bytes.size() <= kPayloadEntryBytesMax, "an entry has a limit");
    append(raw_,
           PayloadEntry{sequence, position, static_cast<std::uint32_t>(bytes.size()), cpu, 0});
    raw_.insert(raw_.end(), bytes.begin(), bytes.end());
    raw_.resize(padded(raw_.size()));
    return raw_.size() >= kPayloadBlockBytes ? flush() : Result<void>();
}

Result<void> PayloadWriter::flush() {
    if (raw_.empty()) {
        return {};
    }
    const std::vector<std::byte> raw = std::exchange(raw_, {});
    return write_block(PayloadBlockType::kEntries, raw);
}

Result<void> PayloadWriter::close(const PayloadTotals& totals) {
    TRY(flush());
    TRY(write_block(PayloadBlockType::kAccounting, bytes_of(totals)));
    file_.reset();
    return {};
}

// The accounting lies there as it is, for anybody to read.
Result<void> PayloadWriter::write_block(PayloadBlockType type, std::span<const std::byte> raw) {
    if (!file_) {
        return Error(ErrorCode::kUnavailable, "the payload file is closed");
    }
    stored_.resize(sizeof(PayloadBlock) + Compressor::bound(raw.size()));
    const auto into = std::span(stored_).subspan(sizeof(PayloadBlock));
    Compressor::Stored stored{raw.size(), Codec::kNone};
    if (type == PayloadBlockType::kAccounting) {
        std::copy(raw.begin(), raw.end(), into.begin());
    } else {
        stored = compressor_.compress(raw, Codec::kZstd, into);
    }
    PayloadBlock block{kPayloadBlockMagic,
                       type,
                       static_cast<std::uint16_t>(stored.codec),
                       position_,
                       static_cast<std::uint32_t>(raw.size()),
                       static_cast<std::uint32_t>(stored.size),
                       0};
    block.checksum =
        checksum_of(block, std::span(stored_).subspan(sizeof(PayloadBlock), stored.size));
    std::memcpy(stored_.data(), &block, sizeof(block));
    stored_.resize(sizeof(block) + stored.size);
    stored_.resize(padded(stored_.size()));
    if (Result<void> written = file_->append(stored_); !written.ok()) {
        file_.reset();
        return written;
    }
    position_ += stored_.size();
    return {};
}

Result<PayloadReader> PayloadReader::open(const std::string& trace_path) {
    const std::string path = payload_path(trace_path);
    TRY(base::Fd file, base::open_regular_file(path));
    PayloadHeader header{};
    TRY(const std::size_t got,
        base::read_up_to_at(file, std::as_writable_bytes(std::span(&header, 1)), 0));
    const bool is_whole =
        got == sizeof(header) && header.magic == kPayloadMagic &&
        header.checksum == checksum(bytes_of(header).first(offsetof(PayloadHeader, checksum)));
    if (!is_whole) {
        return Error(ErrorCode::kCorrupt, fmt::format("'{}' is no payload of a trace", path));
    }
    if (header.format_version > kFormatVersion || header.must_understand != 0) {
        return Error(ErrorCode::kUnsupported,
                     fmt::format("'{}' is of a newer dyetrace: read it with that", path));
    }
    return PayloadReader(std::move(file));
}

// False: there is none, or none that could be one.
Result<bool> PayloadReader::read_header(std::uint64_t position, PayloadBlock& block) const {
    TRY(const std::size_t got,
        base::read_up_to_at(file_, std::as_writable_bytes(std::span(&block, 1)), position));
    return got == sizeof(block) && block.magic == kPayloadBlockMagic &&
           block.position == position && block.raw_size <= kRawBytesMax &&
           block.stored_size <= Compressor::bound(kRawBytesMax);
}

// The next block from `position` on, after a damaged header too; false: there is none any more.
Result<bool> PayloadReader::find_header(std::uint64_t position, PayloadBlock& block) {
    TRY(const std::uint64_t size, base::file_size(file_));
    for (bool is_first = true; position + sizeof(block) <= size; position += 8) {
        TRY(const bool is_there, read_header(position, block));
        if (is_there) {
            return true;
        }
        damaged_ += is_first ? 1 : 0;
        is_first = false;
    }
    return false;
}

// False: it is damaged, or not all of it is written yet.
Result<bool> PayloadReader::read_raw(const PayloadBlock& block, std::vector<std::byte>& raw) {
    stored_.resize(block.stored_size);
    TRY(const std::size_t got,
        base::read_up_to_at(file_, stored_, block.position + sizeof(PayloadBlock)));
    if (got < stored_.size() || block.checksum != checksum_of(block, stored_)) {
        return false;
    }
    raw.resize(block.raw_size);
    return decompressor_.decompress(static_cast<Codec>(block.codec), stored_, raw).ok();
}

Result<void> PayloadReader::scan(
    const std::function<void(const PayloadEntry&, const PayloadPlace&)>& each,
    const std::atomic<bool>* cancelled) {
    damaged_ = 0;
    totals_.reset();
    PayloadBlock block{};
    std::vector<std::byte> raw;
    for (std::uint64_t position = sizeof(PayloadHeader);;
         position = block.position + padded(sizeof(block) + block.stored_size)) {
        TRY(const bool is_there, find_header(position, block));
        if (!is_there) {
            return {};
        }
        if (cancelled != nullptr && cancelled->load()) {
            return Error(ErrorCode::kInterrupted, "interrupted");
        }
        TRY(const bool is_good, read_raw(block, raw));
        damaged_ += is_good ? 0 : 1;
        if (is_good && block.type == PayloadBlockType::kAccounting &&
            raw.size() >= sizeof(PayloadTotals)) {
            std::memcpy(&totals_.emplace(), raw.data(), sizeof(PayloadTotals));
        }
        if (!is_good || block.type != PayloadBlockType::kEntries) {
            continue;
        }
        PayloadEntry entry{};
        for (std::size_t at = 0; at + sizeof(entry) <= raw.size();) {
            std::memcpy(&entry, raw.data() + at, sizeof(entry));
            at += sizeof(entry);
            if (entry.length > raw.size() - at) {
                ++damaged_;
                break;
            }
            each(entry, {block.position, static_cast<std::uint32_t>(at), entry.length});
            at = padded(at + entry.length);
        }
    }
}

Result<std::span<const std::byte>> PayloadReader::bytes_at(const PayloadPlace& place) {
    auto found = std::find_if(cached_.begin(), cached_.end(), [&](const Block& block) {
        return block.position == place.block;
    });
    if (found == cached_.end()) {
        PayloadBlock header{};
        Block block{place.block, {}};
        TRY(const bool is_there, read_header(place.block, header));
        TRY(const bool is_good, is_there ? read_raw(header, block.raw) : Result<bool>(false));
        if (!is_good) {
            return Error(ErrorCode::kCorrupt,
                         fmt::format("the payload is damaged at byte {}", place.block));
        }
        cached_.push_front(std::move(block));
        if (cached_.size() > kBlocksCached) {
            cached_.pop_back();
        }
        found = cached_.begin();
    }
    cached_.splice(cached_.begin(), cached_, found);
    return std::span<const std::byte>(cached_.front().raw).subspan(place.offset, place.length);
}

}  // namespace dyetrace::trace
