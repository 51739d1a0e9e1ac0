#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "query/asked_rows.h"
#include "query/named_sql.h"
#include "query/sql.h"
#include "schema/record_builder.h"
#include "schema/syscalls.h"
#include "trace/segment_fixture.h"

namespace dyetrace::reports {
namespace {

using schema::SyscallEvent;

constexpr std::uint32_t kTarget = 1, kSource = 2;  // handles
constexpr std::int64_t kBytes = 100;

std::uint16_t number_of_call(std::string_view name) {
    for (const schema::SyscallInfo& call : schema::syscalls_of(schema::Abi::kX8664)) {
        if (call.name == name) {
            return call.number;
        }
    }
    return UINT16_MAX;
}

// Copies between two files, each with what is known of where they were.
class CopiedFiles : public testing::Test {
  protected:
    CopiedFiles() {
        for (const auto& [handle, path] : {std::pair(kTarget, "/target"), {kSource, "/source"}}) {
            schema::Handle fact{};
            fact.handle_id = fact.object_id = handle;
            fact.inode = handle;
            fact.object_type = static_cast<std::uint8_t>(schema::ObjectType::kFile);
            append(facts_, schema::build(fact, {{schema::Attachment::kPath, path}}));
        }
    }

    void copy(std::string_view call,
              std::uint32_t first,
              std::uint32_t second,
              std::uint32_t certain) {
        SyscallEvent event{};
        event.header.sequence = event.start_ns = ++calls_;
        event.syscall = number_of_call(call);
        event.handle_id = first;
        event.handle2_id = second;
        event.result = event.bytes = kBytes;
        event.present = SyscallEvent::kHasHandle | SyscallEvent::kHasHandle2 |
                        SyscallEvent::kHasResult | SyscallEvent::kHasBytes |
                        SyscallEvent::kHasFileOffset | SyscallEvent::kHasFileOffset2 | certain;
        append(events_, schema::build(event));
    }

    // Access, file, and whether its position is certain, by call.
    std::string accesses() {
        trace_.write({facts_, events_});
        trace_.folder().finish().value();
        const auto database =
            store::Database::open(trace_.path(), {.threads = 1, .memory_limit = ""}).value();
        const std::string views = query::filled(query::sql::kPatternViews,
                                                {{"path", "/*"}, {"key", query::SqlPiece{"0"}}});
        query::each_row(*database, views, [](query::Row) {}).value();
        std::string out;
        query::each_row(*database,
                        "SELECT access, file, offset_certain FROM _pattern_accesses ORDER BY "
                        "event_id, access",
                        [&](query::Row row) {
                            out += fmt::format("{} {} {}\n", row[0].text, row[1].text, row[2].text);
                        })
            .value();
        return out;
    }

  private:
    static void append(trace::Drain& to, const schema::OwnedRecord& record) {
        to.bytes.insert(to.bytes.end(), record.bytes().begin(), record.bytes().end());
    }

    trace::SegmentFixture trace_;
    trace::Drain facts_{0, schema::Stream::kFacts, {}}, events_{0, schema::Stream::kEvents, {}};
    std::uint64_t calls_ = 0;
};

TEST_F(CopiedFiles, are_each_as_certain_as_what_is_known_of_them) {
    copy("sendfile", kTarget, kSource, SyscallEvent::kHasOffsetCertain);
    copy("copy_file_range", kSource, kTarget, SyscallEvent::kHasOffset2Certain);
    EXPECT_EQ(accesses(),
              "read /source false\n"
              "write /target true\n"
              "read /source false\n"
              "write /target true\n");
}

TEST_F(CopiedFiles, are_read_or_written_as_the_call_says) {
    for (const char* call : {"sendfile", "copy_file_range", "splice"}) {
        copy(call, kTarget, kSource, 0);
    }
    EXPECT_EQ(accesses(),
              "read /source false\n"
              "write /target false\n"
              "read /target false\n"
              "write /source false\n"
              "read /target false\n"
              "write /source false\n");
}

}  // namespace
}  // namespace dyetrace::reports
