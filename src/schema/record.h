// Reading one record where it lies: in a ring, a block of a segment, or a test.
//
//   record_header | fields | attachment_header content padding | attachment_header …
//
// A record is taken from outside, so nothing here trusts its lengths: what does not fit is not there.
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "schema/generated/records.h"

namespace dyetrace::schema {

// The whole record with its attachments, header included.
using RecordBytes = std::span<const std::byte>;

// The first record of `bytes`, or empty if there is no whole one.
inline RecordBytes first_record(std::span<const std::byte> bytes) {
    if (bytes.size() < sizeof(RecordHeader)) {
        return {};
    }
    std::uint32_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof(size));
    if (size < sizeof(RecordHeader) || size > bytes.size() || size % 8 != 0) {
        return {};
    }
    return bytes.first(size);
}

inline RecordHeader header_of(RecordBytes record) {
    RecordHeader header{};
    std::memcpy(&header, record.data(), sizeof(header));
    return header;
}

// The fields, or nullptr if it is another record or too short. Valid as long as the bytes; they must be 8-aligned.
template <typename Record>
const Record* as(RecordBytes record) {
    if (record.size() < sizeof(Record) || header_of(record).type != Record::kId) {
        return nullptr;
    }
    return reinterpret_cast<const Record*>(record.data());
}

// Content of the first attachment of a kind after `fixed_size` bytes; nothing if there is none or it is cut.
std::optional<std::string_view> attachment(RecordBytes record,
                                           std::size_t fixed_size,
                                           Attachment kind);

template <typename Record>
std::optional<std::string_view> attachment(const Record& record, Attachment kind) {
    return attachment(RecordBytes(reinterpret_cast<const std::byte*>(&record), record.header.size),
                      sizeof(Record),
                      kind);
}

// What --content found in the bytes that a call moved.
struct Content {
    std::uint64_t fingerprint;  // nothing where bytes are unread
    std::uint64_t unread_bytes;
    std::uint32_t anchors_dropped;  // after the last that is in the trace
    std::uint32_t distinct_bytes;   // byte values among 64 bytes; 0: not looked at
    std::uint64_t sum;  // content/sum.h; with anchors, and nothing where bytes are unread
    bool has_sum;
};

template <typename Record>
std::optional<Content> content_of(const Record& record) {
    const auto bytes = attachment(record, Attachment::kContent);
    if (!bytes || bytes->size() < offsetof(Content, sum)) {
        return std::nullopt;
    }
    Content content{};
    content.has_sum = bytes->size() >= offsetof(Content, has_sum);
    std::memcpy(&content,
                bytes->data(),
                content.has_sum ? offsetof(Content, has_sum) : offsetof(Content, sum));
    return content;
}

// What was seen of dyes in the bytes that a call moved; there where it is not nothing.
struct DyeLook {
    std::uint64_t hits;                // occurrences
    std::uint64_t candidates_dropped;  // that were too many to be compared
    std::uint64_t unread_bytes;
};

template <typename Record>
std::optional<DyeLook> dye_look_of(const Record& record) {
    const auto bytes = attachment(record, Attachment::kDyes);
    if (!bytes || bytes->size() < sizeof(DyeLook)) {
        return std::nullopt;
    }
    DyeLook look{};
    std::memcpy(&look, bytes->data(), sizeof(look));
    return look;
}

}  // namespace dyetrace::schema
