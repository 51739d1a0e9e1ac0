#include "capture/selection.h"

#include <gtest/gtest.h>

#include <string>

#include "schema/record_builder.h"

namespace dyetrace::capture {
namespace {

using schema::build;

// Records with the sequence numbers 1, 2, …: r a read, w a write, o an object that the event before it touched.
class SelectionTest : public testing::Test {
  protected:
    std::vector<std::byte> records(std::string_view letters) {
        std::vector<std::byte> bytes;
        for (const char letter : letters) {
            if (letter == 'o') {
                append(schema::EventObject{}, bytes);
            } else {
                schema::SyscallEvent call{};
                call.syscall = letter == 'r' ? 0 : 1;
                append(call, bytes);
            }
        }
        return bytes;
    }
    // Sequence numbers of what is kept, a stretch in brackets: "[1 2][5]".
    std::string select(std::uint32_t cpu, std::string_view letters) {
        std::string kept;
        const std::vector<std::byte> bytes = records(letters);
        decided_ = selection_.select(cpu, bytes, [&](std::span<const std::byte> stretch) {
            kept += "[";
            while (!stretch.empty()) {
                const schema::RecordBytes record = schema::first_record(stretch);
                kept += (kept.back() == '[' ? "" : " ") +
                        std::to_string(schema::header_of(record).sequence);
                stretch = stretch.subspan(record.size());
            }
            kept += "]";
        });
        return kept;
    }

    Selection selection_{filter::Predicate::parse("name = 'read'").value(), "here", 2};
    std::uint64_t decided_ = 0;

  private:
    template <typename Record>
    void append(Record record, std::vector<std::byte>& bytes) {
        record.header.sequence = ++sequence_;
        const schema::OwnedRecord built = build(record);
        bytes.insert(bytes.end(), built.bytes().begin(), built.bytes().end());
    }
    std::uint64_t sequence_ = 0;
};

TEST_F(SelectionTest, hands_out_stretches_and_what_follows_an_event_shares_its_fate) {
    EXPECT_EQ(select(0, "rorwowrr"), "[1 2 3][7 8]");
    EXPECT_EQ(selection_.left_out(0), 3u);
    EXPECT_EQ(decided_, 9u);
}

TEST_F(SelectionTest, counts_what_it_leaves_out_for_each_cpu) {
    EXPECT_EQ(select(0, "wwr"), "[3]");
    EXPECT_EQ(select(1, "wow"), "");
    EXPECT_EQ(decided_, 7u) << "also where nothing is kept";
    EXPECT_EQ(selection_.left_out(0), 2u);
    EXPECT_EQ(selection_.left_out(1), 3u);
}

TEST_F(SelectionTest, decides_by_the_names_that_it_learned) {
    selection_ = Selection(filter::Predicate::parse("path = '/tmp/a'").value(), "here", 1);
    schema::SyscallEvent call{};
    call.handle_id = 7;
    call.present = schema::SyscallEvent::kHasHandle;
    const auto keeps = [&] {
        bool kept = false;
        selection_.select(0, build(call).bytes(), [&](auto) { kept = true; });
        return kept;
    };
    EXPECT_FALSE(keeps());
    schema::Handle handle{};
    handle.handle_id = 7;
    selection_.learn(build(handle, {{schema::Attachment::kPath, "/tmp/a"}}).bytes());
    EXPECT_TRUE(keeps());
}

}  // namespace
}  // namespace dyetrace::capture
