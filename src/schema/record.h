// Reading one record where it lies: in a ring, a block of a segment, or a test.
//
//   record_header | fields | attachment_header content padding | attachment_header …
//
// A record is taken from outside, so nothing here trusts its lengths: what does not fit is not there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "schema/generated/records.h"
#include "schema/shared/found.h"

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

constexpr std::uint16_t kKernelThread = 1, kCommandIsCut = 2;  // bits of TaskContext::flags

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
struct Content : content_found {
    bool has_sum;
};

template <typename Record>
std::optional<Content> content_of(const Record& record) {
    const auto bytes = attachment(record, Attachment::kContent);
    if (!bytes || bytes->size() < offsetof(content_found, sum)) {
        return std::nullopt;
    }
    content_found found{};
    std::memcpy(&found, bytes->data(), std::min(bytes->size(), sizeof(found)));
    return Content{found, bytes->size() >= sizeof(found)};
}

template <typename Record>
std::optional<dyes_found> dyes_found_in(const Record& record) {
    const auto bytes = attachment(record, Attachment::kDyes);
    if (!bytes || bytes->size() < sizeof(dyes_found)) {
        return std::nullopt;
    }
    dyes_found found{};
    std::memcpy(&found, bytes->data(), sizeof(found));
    return found;
}

}  // namespace dyetrace::schema
