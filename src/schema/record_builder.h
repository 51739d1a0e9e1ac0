// Making a record: for tests, for importers, and for sources that are not the kernel's.
//
//   SyscallEvent event{.result = -2};
//   OwnedRecord record = build(event, {{Attachment::kPath, "/etc/none"}});
//   record.bytes();     header, fields, attachments; 8-aligned, header.size and .attachments filled in
#pragma once

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/record.h"

namespace dyetrace::schema {

class OwnedRecord {
  public:
    explicit OwnedRecord(std::vector<std::uint64_t> words) : words_(std::move(words)) {}
    RecordBytes bytes() const { return std::as_bytes(std::span(words_)); }

  private:
    std::vector<std::uint64_t> words_;  // words, because a record is 8-aligned
};

using AttachmentList = std::span<const std::pair<Attachment, std::string_view>>;

// The attachments that do not fit into the 16 bits of their length are cut at 65,535 bytes.
template <typename Record>
OwnedRecord build(Record fields, AttachmentList attachments) {
    static_assert(sizeof(Record) % 8 == 0);
    constexpr std::size_t kContentMax = 0xffff;
    std::size_t size = sizeof(Record);
    for (const auto& [kind, content] : attachments) {
        size += sizeof(AttachmentHeader) + (std::min(content.size(), kContentMax) + 7) / 8 * 8;
    }
    std::vector<std::uint64_t> words(size / 8);
    fields.header.size = static_cast<std::uint32_t>(size);
    fields.header.type = Record::kId;
    if constexpr (requires { fields.attachments; }) {
        fields.attachments = static_cast<std::uint16_t>(size - sizeof(Record));
    }
    std::memcpy(words.data(), &fields, sizeof(fields));
    char* at = reinterpret_cast<char*>(words.data()) + sizeof(fields);
    for (const auto& [kind, content] : attachments) {
        const std::string_view kept = content.substr(0, kContentMax);
        const AttachmentHeader header{
            static_cast<std::uint16_t>(kind), static_cast<std::uint16_t>(kept.size()), 0};
        std::memcpy(at, &header, sizeof(header));
        std::memcpy(at + sizeof(header), kept.data(), kept.size());
        at += sizeof(header) + (kept.size() + 7) / 8 * 8;
    }
    return OwnedRecord(std::move(words));
}

template <typename Record>
OwnedRecord build(Record fields,
                  std::initializer_list<std::pair<Attachment, std::string_view>> attachments = {}) {
    return build(fields, AttachmentList(attachments.begin(), attachments.size()));
}

}  // namespace dyetrace::schema
