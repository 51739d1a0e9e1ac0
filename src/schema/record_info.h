// What a record looks like, for code that treats all records alike (the reader of segments, the writer of Parquet).
//
//   segment ──► record_header + fields + attachments ──► a row of raw_<record>, a column per ColumnInfo
//
// Example: `syscall_event` has a column `fd` (kS32) at byte 108, NULL unless bit `fd` of its `present` is set.
#pragma once

#include <cstdint>
#include <span>

#include "schema/generated/records.h"

namespace dyetrace::schema {

enum class Stream : std::uint8_t { kEvents, kFacts };

enum class ColumnType : std::uint8_t { kU8, kU16, kU32, kU64, kS32, kS64, kBool, kText, kNumbers };

enum class ColumnSource : std::uint8_t {
    kHost,             // index of the host that wrote the segment
    kCpu,              // CPU of the block
    kField,            // `size` bytes at `offset`
    kText,             // `size` bytes at `offset`, up to the first NUL, escaped
    kIp,               // 16 bytes at `offset`: an address of the record's `family`
    kBit,              // bit `present_bit` of `present`
    kAttachment,       // content of the attachment of this kind, escaped
    kAddress,          // the attachment's sockaddr, address as text
    kAddressPort,      // the attachment's sockaddr, port
    kAttachmentField,  // `size` bytes at `offset` of the attachment, a number
    kAttachedNumbers,  // the attachment as a list of numbers of 32 bits
};

struct ColumnInfo {
    const char* name;
    ColumnType type;
    ColumnSource source;
    std::uint16_t offset;     // from the record's first byte
    std::uint16_t size;       // bytes
    std::int8_t present_bit;  // NULL unless set; -1: never NULL
    std::uint8_t attachment;  // enum Attachment
};

struct RecordInfo {
    RecordId id;
    const char* name;
    std::uint16_t size;                // bytes without attachments
    std::uint16_t present_offset;      // of the u32 `present`; 0: has none
    std::uint16_t attachments_offset;  // of the u16 `attachments`; 0: has none
    bool must_understand;
    Stream stream;
    std::span<const ColumnInfo> columns;
};

// All records that this version knows, by rising id.
std::span<const RecordInfo> records();

// nullptr if this version does not know it.
const RecordInfo* find_record(RecordId id);

}  // namespace dyetrace::schema
