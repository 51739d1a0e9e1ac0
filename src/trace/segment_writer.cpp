#include "trace/segment_writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace dyetrace::trace {
namespace {

std::size_t slot_of(std::uint16_t cpu, schema::Stream stream) {
    return std::size_t{cpu} * 2 + static_cast<std::size_t>(stream);
}

// Rounded up: readers take it from written_ns.
std::uint32_t lag_us(std::uint64_t written_ns, std::uint64_t kept_until_ns) {
    const std::uint64_t lag_ns = written_ns - std::min(written_ns, kept_until_ns);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>((lag_ns + 999) / 1000, kLagMaxUs));
}

}  // namespace

SegmentWriter::SegmentWriter(TraceFolder& folder,
                             std::uint16_t host_index,
                             SegmentWriterOptions options)
    : folder_(&folder),
      host_index_(host_index),
      options_(std::move(options)),
      compressor_(options_.level) {
    block_.resize(sizeof(BlockHeader) + Compressor::bound(2 * kBlockRawBytes));
    free_.reserve(kPendingBlocksMax);
}

Result<SegmentWriter> SegmentWriter::create(TraceFolder& folder,
                                            std::uint16_t host_index,
                                            SegmentWriterOptions options) {
    SegmentWriter writer(folder, host_index, std::move(options));
    writer.number_ = writer.options_.first_number - 1;
    writer.complete_ns_ =
        writer.options_.complete_ns != 0 ? writer.options_.complete_ns : writer.options_.clock_ns();
    TRY(writer.begin_segment());
    return writer;
}

Result<void> SegmentWriter::append(std::uint32_t cpu,
                                   schema::Stream stream,
                                   std::span<const std::byte> records) {
    if (failure_) {
        return *failure_;
    }
    if (cpu >= kCpusMax) {
        return Error(ErrorCode::kLimitReached,
                     fmt::format("CPU {} is beyond the {} of a trace", cpu, kCpusMax));
    }
    RecordWalk walk(records);
    for (schema::RecordBytes record = walk.next(); !record.empty(); record = walk.next()) {
        TRY(add(static_cast<std::uint16_t>(cpu), stream, record));
    }
    if (walk.rest() > 0) {
        return Error(ErrorCode::kCorrupt,
                     fmt::format("{} bytes of CPU {} are no record", walk.rest(), cpu));
    }
    return {};
}

void SegmentWriter::complete_until(std::uint64_t ns) {
    complete_ns_ = failure_ ? complete_ns_ : std::max(complete_ns_, ns);
}

std::uint64_t SegmentWriter::kept_until_ns_but(const Pending* written) const {
    std::uint64_t until_ns = complete_ns_;
    for (std::size_t slot = slot_of(0, schema::Stream::kEvents);
         pending_count_ > 0 && slot < slots_.size();
         slot += 2) {
        if (slots_[slot] != nullptr && slots_[slot].get() != written) {
            until_ns = std::min(until_ns, slots_[slot]->since_ns);
        }
    }
    return until_ns;
}

Result<void> SegmentWriter::flush() {
    if (failure_) {
        return *failure_;
    }
    TRY(write_all_of(schema::Stream::kFacts));
    TRY(write_all_of(schema::Stream::kEvents));
    return rotate_if_due();
}

Result<void> SegmentWriter::close() {
    if (failure_) {
        return *failure_;
    }
    if (file_ == nullptr) {
        return {};
    }
    TRY(write_all_of(schema::Stream::kFacts));
    TRY(write_all_of(schema::Stream::kEvents));
    return end_segment();
}

Result<void> SegmentWriter::begin_segment() {
    ++number_;
    auto begun = begin_file(false);
    if (!begun.ok()) {
        return fail(std::move(begun).error());
    }
    ++totals_.segments;
    return {};
}

// A file without its header is no segment: it goes again.
Result<void> SegmentWriter::begin_file(bool is_trailer) {
    const std::string path = folder_->segment_path(number_);
    TRY(file_, options_.create_file(path));
    segment_ = {};
    created_ns_ = options_.clock_ns();
    SegmentHeader header{};
    header.magic = kSegmentMagic;
    header.format_version = kFormatVersion;
    header.header_size = sizeof(header);
    header.number = number_;
    header.created_ns = created_ns_;
    header.complete_ns = kept_until_ns();
    header.checksum =
        checksum(std::as_bytes(std::span(&header, 1)).first(offsetof(SegmentHeader, checksum)));
    const auto bytes = std::as_bytes(std::span(&header, 1));
    auto written = is_trailer ? file_->append_trailer(bytes) : file_->append(bytes);
    if (!written.ok()) {
        file_ = nullptr;
        ::unlink(path.c_str());
        return written;
    }
    position_ = sizeof(header);
    return {};
}

Result<void> SegmentWriter::end_segment() {
    BlockHeader header{};
    header.type = BlockType::kEnd;
    const SegmentTotals totals = segment_;
    TRY(write_block(header, std::as_bytes(std::span(&totals, 1)), kept_until_ns()));
    file_ = nullptr;
    return {};
}

Result<void> SegmentWriter::rotate_if_due() {
    const SegmentLimits& limits = options_.limits;
    const std::uint64_t records = segment_.events + segment_.facts;
    const bool old = segment_.blocks > 0 && options_.clock_ns() - created_ns_ >= limits.age_ns_max;
    if (records < limits.records_max && segment_.raw_bytes < limits.raw_bytes_max && !old) {
        return {};
    }
    TRY(end_segment());
    return begin_segment();
}

Result<void> SegmentWriter::add(std::uint16_t cpu,
                                schema::Stream stream,
                                schema::RecordBytes record) {
    TRY(Pending* const pending, pending_for(cpu, stream, record.size()));
    pending->bytes.insert(pending->bytes.end(), record.begin(), record.end());
    pending->summary.add(record);
    return {};
}

// The pending block that has room for `bytes` more, or that is empty and takes one record of any size.
Result<SegmentWriter::Pending*> SegmentWriter::pending_for(std::uint16_t cpu,
                                                           schema::Stream stream,
                                                           std::size_t bytes) {
    const std::size_t slot = slot_of(cpu, stream);
    if (slot >= slots_.size()) {
        slots_.resize(slot + 1);
    }
    if (slots_[slot] != nullptr && slots_[slot]->bytes.size() + bytes > kBlockRawBytes) {
        TRY(write_pending(*slots_[slot]));
        TRY(rotate_if_due());
    }
    if (slots_[slot] != nullptr) {
        return slots_[slot].get();
    }
    if (pending_count_ == kPendingBlocksMax) {
        TRY(flush());
    }
    if (free_.empty()) {
        free_.push_back(std::make_unique<Pending>());
        free_.back()->bytes.reserve(kBlockRawBytes);
    }
    slots_[slot] = std::move(free_.back());
    free_.pop_back();
    ++pending_count_;
    slots_[slot]->cpu = cpu;
    slots_[slot]->stream = stream;
    slots_[slot]->since_ns = complete_ns_;
    return slots_[slot].get();
}

// Facts first: whoever reads up to this block finds everything that its events name.
Result<void> SegmentWriter::write_pending(Pending& pending) {
    if (pending.stream == schema::Stream::kEvents) {
        TRY(write_all_of(schema::Stream::kFacts));
    }
    TRY(write_records(pending));
    release(pending);
    return {};
}

Result<void> SegmentWriter::write_all_of(schema::Stream stream) {
    if (pending_count_ == 0) {
        return {};
    }
    for (std::size_t slot = slot_of(0, stream); slot < slots_.size(); slot += 2) {
        if (slots_[slot] != nullptr) {
            TRY(write_records(*slots_[slot]));
            release(*slots_[slot]);
        }
    }
    return {};
}

void SegmentWriter::release(Pending& pending) {
    const std::size_t slot = slot_of(pending.cpu, pending.stream);
    pending.bytes.clear();
    pending.summary = {};
    free_.push_back(std::move(slots_[slot]));
    --pending_count_;
}

Result<void> SegmentWriter::write_records(const Pending& pending) {
    const RecordSummary& summary = pending.summary;
    BlockHeader header{};
    header.type = BlockType::kRecords;
    header.cpu = pending.cpu;
    header.stream = static_cast<std::uint8_t>(pending.stream);
    header.record_count = summary.count;
    header.record_types = summary.types;
    header.first_sequence = summary.first_sequence;
    header.last_sequence = summary.last_sequence;
    header.begin_ns = summary.begin_ns;
    header.end_ns = summary.end_ns;
    TRY(write_block(header, pending.bytes, kept_until_ns_but(&pending)));
    ++segment_.blocks;
    segment_.raw_bytes += pending.bytes.size();
    (pending.stream == schema::Stream::kEvents ? segment_.events : segment_.facts) += summary.count;
    ++totals_.blocks;
    totals_.raw_bytes += pending.bytes.size();
    totals_.followers += summary.followers;
    (pending.stream == schema::Stream::kEvents ? totals_.events : totals_.facts) += summary.count;
    if (pending.stream == schema::Stream::kEvents) {
        events_of_.resize(std::max<std::size_t>(events_of_.size(), pending.cpu + 1u));
        events_of_[pending.cpu] += summary.count;
    }
    return {};
}

Result<void> SegmentWriter::write_block(BlockHeader header,
                                        std::span<const std::byte> raw,
                                        std::uint64_t kept_until_ns) {
    const std::size_t room = sizeof(BlockHeader) + padded(Compressor::bound(raw.size()));
    if (block_.size() < room) {
        block_.resize(room);
    }
    // facts are mostly names
    const bool are_events = header.type == BlockType::kRecords &&
                            header.stream == static_cast<std::uint8_t>(schema::Stream::kEvents);
    const auto stored = compressor_.compress(raw,
                                             are_events ? Codec::kDeltaZstd : Codec::kZstd,
                                             std::span(block_).subspan(sizeof(BlockHeader)));
    const std::size_t size = sizeof(BlockHeader) + padded(stored.size);
    std::fill(block_.begin() + static_cast<std::ptrdiff_t>(sizeof(BlockHeader) + stored.size),
              block_.begin() + static_cast<std::ptrdiff_t>(size),
              std::byte{0});
    header.magic = kBlockMagic;
    header.position = position_;
    header.host_index = host_index_;
    header.codec = stored.codec;
    header.raw_size = static_cast<std::uint32_t>(raw.size());
    header.stored_size = static_cast<std::uint32_t>(stored.size);
    header.written_ns = options_.clock_ns();
    header.lag_us = lag_us(header.written_ns, kept_until_ns);
    header.payload_checksum = checksum(std::span(block_).subspan(sizeof(BlockHeader), stored.size));
    header.header_checksum = checksum(
        std::as_bytes(std::span(&header, 1)).first(offsetof(BlockHeader, header_checksum)));
    std::memcpy(block_.data(), &header, sizeof(header));
    const auto bytes = std::span<const std::byte>(block_).first(size);
    if (failure_) {
        TRY(file_->append_trailer(bytes));
    } else if (auto written = file_->append(bytes); !written.ok()) {
        return fail(std::move(written).error());
    }
    position_ += size;
    totals_.stored_bytes += size;
    return {};
}

// A writer that failed once is closed, not retried.
Error SegmentWriter::fail(Error error) {
    if (!failure_) {
        failure_ = std::move(error).with_context(
            fmt::format("recording into '{}' stopped", folder_->path()));
    }
    return *failure_;
}

Result<void> SegmentWriter::write_trailer(std::uint16_t cpu, std::span<const std::byte> facts) {
    CHECK(failure_.has_value(), "nothing has failed");
    folder_->release_reserve();  // room where none was promised
    if (file_ == nullptr) {
        TRY(begin_file(true));
    }
    Pending last;
    const std::size_t slot = slot_of(cpu, schema::Stream::kFacts);
    if (slot < slots_.size() && slots_[slot] != nullptr) {
        last = std::move(*slots_[slot]);
    }
    last.cpu = cpu;
    last.stream = schema::Stream::kFacts;
    last.bytes.insert(last.bytes.end(), facts.begin(), facts.end());
    RecordWalk walk(facts);
    for (schema::RecordBytes record = walk.next(); !record.empty(); record = walk.next()) {
        last.summary.add(record);
    }
    TRY(write_records(last));
    return end_segment();
}

}  // namespace dyetrace::trace
