// Every field of every record arrives in its column: random records, checked against the description.

#include "store/record_columns.h"

#include <gtest/gtest.h>

#include <random>

#include "schema/record_builder.h"
#include "store/store_fixture.h"

namespace dyetrace::store {
namespace {

using schema::ColumnInfo;
using schema::ColumnSource;

// Records of random bytes with a right header: any value in any field, any bit in `present`.
std::vector<std::byte> random_records(const schema::RecordInfo& info,
                                      std::size_t count,
                                      std::mt19937_64& random) {
    std::vector<std::byte> bytes(info.size * count);
    for (std::byte& byte : bytes) {
        byte = static_cast<std::byte>(random() >> 56);
    }
    for (std::size_t i = 0; i < count; ++i) {
        schema::RecordHeader header{};
        header.size = info.size;
        header.type = info.id;
        header.sequence = i;
        std::memcpy(bytes.data() + i * info.size, &header, sizeof(header));
    }
    return bytes;
}

std::string expected(const schema::RecordInfo& info,
                     const ColumnInfo& column,
                     const std::byte* record) {
    std::uint32_t present = 0;
    if (info.present_offset != 0) {
        std::memcpy(&present, record + info.present_offset, sizeof(present));
    }
    if (column.source == ColumnSource::kBit) {
        return ((present >> column.present_bit) & 1u) != 0 ? "true" : "false";
    }
    if (column.present_bit >= 0 && ((present >> column.present_bit) & 1u) == 0) {
        return "NULL";
    }
    std::uint64_t value = 0;
    std::memcpy(&value, record + column.offset, column.size);
    switch (column.type) {
        case schema::ColumnType::kS32:
            return std::to_string(static_cast<std::int32_t>(value));
        case schema::ColumnType::kS64:
            return std::to_string(static_cast<std::int64_t>(value));
        default:
            return std::to_string(value);
    }
}

TEST(ColumnWriter, puts_every_number_of_every_record_into_its_column) {
    std::mt19937_64 random(11);
    for (const schema::RecordInfo& info : schema::records()) {
        constexpr std::size_t kCount = 150;  // more than two words of validity
        const std::vector<std::byte> bytes = random_records(info, kCount, random);
        StoreFixture trace;
        {
            auto writer = trace::SegmentWriter::create(trace.folder(), 0).value();
            writer.append(1, info.stream, bytes).value();
            writer.close().value();
            trace.folder().finish().value();
        }
        const auto database = trace.database();
        for (const ColumnInfo& column : info.columns) {
            if (column.source != ColumnSource::kField && column.source != ColumnSource::kBit) {
                continue;
            }
            std::string wanted;
            for (std::size_t i = 0; i < kCount; ++i) {
                wanted += expected(info, column, bytes.data() + i * info.size) + "\n";
            }
            const std::string sql = std::string("SELECT \"") + column.name +
                                    "\" FROM internal.raw_" + info.name + " ORDER BY sequence";
            EXPECT_EQ(ask(*database, sql), wanted) << info.name << "." << column.name;
        }
    }
}

TEST(ColumnWriter, escapes_text_and_reads_addresses) {
    StoreFixture trace;
    std::vector<std::byte> events;
    trace.records().add(0, schema::Stream::kEvents, events, schema::SyscallEvent{}, "plain");
    trace.records().add(
        0, schema::Stream::kEvents, events, schema::SyscallEvent{}, "caf\xc3\xa9\\\xff\x1b");
    trace.records().add(0, schema::Stream::kEvents, events, schema::SyscallEvent{});
    std::vector<std::byte> facts;
    schema::Socket socket{};
    socket.family = 10;
    socket.local_address[15] = 1;
    trace.records().add(0, schema::Stream::kFacts, facts, socket);
    socket.family = 1;
    trace.records().add(0, schema::Stream::kFacts, facts, socket);
    {
        auto writer = trace::SegmentWriter::create(trace.folder(), 0).value();
        writer.append(0, schema::Stream::kEvents, events).value();
        writer.append(0, schema::Stream::kFacts, facts).value();
        writer.close().value();
        trace.folder().finish().value();
    }
    EXPECT_EQ(trace.ask("SELECT path FROM internal.raw_syscall_event"),
              "plain\ncaf\xc3\xa9\\\\\\xff\x1b\nNULL\n");
    EXPECT_EQ(trace.ask("SELECT local_address, remote_address FROM internal.raw_socket"),
              "::1 ::\nNULL NULL\n");
}

TEST(ColumnWriter, makes_a_list_of_attached_numbers) {
    StoreFixture trace;
    std::vector<std::byte> events;
    const auto add = [&](std::string_view windows) {
        const schema::OwnedRecord record =
            schema::build(schema::Sketch{}, {{schema::Attachment::kSketch, windows}});
        events.insert(events.end(), record.bytes().begin(), record.bytes().end());
    };
    add(std::string_view("\1\0\0\0\xff\xff\xff\xff\2\1\0\0", 12));
    add("");
    add(std::string_view("\7\0\0\0", 4));
    {
        auto writer = trace::SegmentWriter::create(trace.folder(), 0).value();
        writer.append(0, schema::Stream::kEvents, events).value();
        writer.close().value();
        trace.folder().finish().value();
    }
    EXPECT_EQ(trace.ask("SELECT windows, len(windows) FROM internal.raw_sketch"),
              "[1,4294967295,258] 3\n[] 0\n[7] 1\n");
    EXPECT_EQ(trace.ask("SELECT unnest(windows) AS w FROM sketches ORDER BY w DESC"),
              "4294967295\n258\n7\n1\n");
}

}  // namespace
}  // namespace dyetrace::store
