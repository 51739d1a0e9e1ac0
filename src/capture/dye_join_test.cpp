#include "capture/dye_join.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>

#include "base/file.h"
#include "schema/record_builder.h"

namespace dyetrace::capture {
namespace {

constexpr std::uint32_t kPipe = 1, kFile = 2, kDatagrams = 3, kCopy = 4;
constexpr std::uint32_t kInbound = 1, kWhole = 2, kPeeked = 4;
constexpr std::uint64_t kEnd = UINT64_MAX;

class DyeJoinTest : public testing::Test {
  protected:
    DyeJoinTest() {
        EXPECT_TRUE(table_.build({{1, schema::DyeForm::kPlain, "secret", false}}).ok());
        announce(kPipe, schema::ObjectType::kPipe);
        announce(kFile, schema::ObjectType::kFile);
        announce(kDatagrams, schema::ObjectType::kSocket);
        announce(kCopy, schema::ObjectType::kFile);
        schema::Socket socket{};
        socket.handle_id = kDatagrams;
        socket.family = AF_UNIX;
        socket.socket_type = SOCK_DGRAM;
        join_.learn(schema::build(socket).bytes());
    }
    void announce(std::uint32_t handle_id, schema::ObjectType type) {
        schema::Handle handle{};
        handle.handle_id = handle_id;
        handle.object_id = 10 + handle_id;
        handle.object_type = static_cast<std::uint8_t>(type);
        join_.learn(schema::build(handle).bytes());
    }
    struct Call {
        std::uint32_t handle_id = kPipe;
        std::uint64_t end_ns = 0;
        std::string bytes;
        std::uint32_t flags = kWhole;
        bool seen = true;
        std::uint32_t cpu = 0;
        std::optional<std::int64_t> offset = std::nullopt;
        bool certain = true;
    };
    // Returns its sequence.
    std::uint64_t take(const Call& call) {
        schema::SyscallEvent event{};
        event.start_ns = call.end_ns;
        event.handle_id = call.handle_id;
        event.bytes = static_cast<std::int64_t>(call.bytes.size());
        event.present = schema::SyscallEvent::kHasHandle | schema::SyscallEvent::kHasBytes;
        if (call.offset) {
            event.file_offset = *call.offset;
            event.present |= schema::SyscallEvent::kHasFileOffset;
            event.present |= call.certain ? schema::SyscallEvent::kHasOffsetCertain : 0u;
        }
        return take(event, call);
    }
    // The call copies from kFile to kCopy.
    std::uint64_t take_copy(const Call& call, std::int64_t offset2, bool certain2 = true) {
        schema::SyscallEvent event{};
        event.start_ns = call.end_ns;
        event.handle_id = kFile;
        event.file_offset = *call.offset;
        event.handle2_id = kCopy;
        event.file_offset2 = offset2;
        event.bytes = static_cast<std::int64_t>(call.bytes.size());
        event.present = schema::SyscallEvent::kHasHandle | schema::SyscallEvent::kHasBytes |
                        schema::SyscallEvent::kHasFileOffset |
                        schema::SyscallEvent::kHasOffsetCertain |
                        schema::SyscallEvent::kHasHandle2 | schema::SyscallEvent::kHasFileOffset2;
        event.present |= certain2 ? schema::SyscallEvent::kHasOffset2Certain : 0u;
        return take(event, call);
    }
    // A message, or with a cookie a control block.
    std::uint64_t take_part(const Call& call, std::uint64_t cookie = 0) {
        schema::PartEvent part{};
        part.start_ns = call.end_ns;
        part.handle_id = call.handle_id;
        part.cookie = cookie;
        part.bytes = static_cast<std::int64_t>(call.bytes.size());
        part.present = schema::PartEvent::kHasHandle | schema::PartEvent::kHasBytes;
        if (call.offset) {
            part.file_offset = *call.offset;
            part.present |=
                schema::PartEvent::kHasFileOffset | schema::PartEvent::kHasOffsetCertain;
        }
        return take(part, call);
    }
    // Sequences of the events in which something ends, with its position.
    std::vector<std::pair<std::uint64_t, std::int64_t>> join(std::uint64_t until_ns) {
        std::vector<std::pair<std::uint64_t, std::int64_t>> found;
        join_.join(table_, until_ns);
        for (const schema::DyeHit& hit : join_.crossings()) {
            found.emplace_back(hit.parent_sequence, hit.position);
        }
        return found;
    }
    using Found = std::vector<std::pair<std::uint64_t, std::int64_t>>;

    DyeTable table_;
    DyeJoin join_;
    std::vector<std::byte> stripped_;

  private:
    template <typename Event>
    std::uint64_t take(Event event, const Call& call) {
        event.header.sequence = ++sequence_;
        const std::uint16_t lengths[] = {static_cast<std::uint16_t>(call.bytes.size()), 0};
        std::string edges(reinterpret_cast<const char*>(lengths), sizeof(lengths));
        edges.append(reinterpret_cast<const char*>(&call.flags), sizeof(call.flags));
        edges += call.bytes;
        const auto path = std::pair(schema::Attachment::kPath, std::string_view("/a"));
        const auto record =
            call.seen ? schema::build(event, {path, {schema::Attachment::kDyeEdges, edges}})
                      : schema::build(event, {path});
        join_.take(call.cpu, record.bytes(), stripped_);
        return sequence_;
    }
    std::uint64_t sequence_ = 0;
};

TEST_F(DyeJoinTest, joins_in_the_order_of_time_whatever_the_cpu) {
    const std::uint64_t second = take({.end_ns = 20, .bytes = "cret", .cpu = 0});
    take({.end_ns = 10, .bytes = "se", .cpu = 1});
    EXPECT_EQ(join(kEnd), (Found{{second, -2}}));
    EXPECT_EQ(join(kEnd), Found{});  // once
}

TEST_F(DyeJoinTest, waits_for_what_may_still_come_from_another_cpu) {
    const std::uint64_t second = take({.end_ns = 20, .bytes = "cret"});
    EXPECT_EQ(join(15), Found{});
    take({.end_ns = 10, .bytes = "se", .cpu = 1});
    EXPECT_EQ(join(25), (Found{{second, -2}}));
}

TEST_F(DyeJoinTest, joins_no_messages_and_nothing_over_bytes_that_nobody_saw_or_lost_events) {
    take({.handle_id = kDatagrams, .end_ns = 1, .bytes = "se"});
    take({.handle_id = kDatagrams, .end_ns = 2, .bytes = "cret"});
    take({.end_ns = 3, .bytes = "se"});
    take({.end_ns = 4, .bytes = "x", .seen = false});
    take({.end_ns = 5, .bytes = "cret"});
    take({.end_ns = 6, .bytes = "se"});
    take_part({.end_ns = 7, .bytes = "x", .seen = false});
    take({.end_ns = 8, .bytes = "cret"});
    take({.end_ns = 9, .bytes = "se"});
    EXPECT_EQ(join(9), Found{});
    join_.events_were_lost();
    take({.end_ns = 10, .bytes = "cret"});
    EXPECT_EQ(join(kEnd), Found{});
}

TEST_F(DyeJoinTest, takes_bytes_that_were_only_peeked_at_for_none) {
    take({.end_ns = 1, .bytes = "se", .flags = kWhole | kInbound});
    take({.end_ns = 2, .bytes = "cre", .flags = kWhole | kInbound | kPeeked});
    const std::uint64_t third = take({.end_ns = 3, .bytes = "cret", .flags = kWhole | kInbound});
    EXPECT_EQ(join(kEnd), (Found{{third, -2}}));
}

TEST_F(DyeJoinTest, forgets_what_was_written_over_by_bytes_that_nobody_saw) {
    take({.handle_id = kFile, .end_ns = 1, .bytes = "se", .offset = 0});
    take({.handle_id = kFile, .end_ns = 2, .bytes = "x", .seen = false, .offset = 1});
    take({.handle_id = kFile, .end_ns = 3, .bytes = "cret", .offset = 2});
    EXPECT_EQ(join(kEnd), Found{});
}

TEST_F(DyeJoinTest, believes_no_offset_that_is_not_certain) {
    take({.handle_id = kFile, .end_ns = 1, .bytes = "se", .offset = 0});
    take({.handle_id = kFile, .end_ns = 2, .bytes = "cret", .offset = 2, .certain = false});
    EXPECT_EQ(join(kEnd), Found{});
    const std::uint64_t certain =
        take({.handle_id = kFile, .end_ns = 3, .bytes = "cret", .offset = 2});
    EXPECT_EQ(join(kEnd), (Found{{certain, -2}}));
}

TEST_F(DyeJoinTest, joins_messages_in_their_order_and_control_blocks_by_position_only) {
    take_part({.end_ns = 1, .bytes = "se"});
    const std::uint64_t second = take_part({.end_ns = 1, .bytes = "cret"});
    EXPECT_EQ(join(1), (Found{{second, -2}}));
    take({.end_ns = 2, .bytes = "se"});
    take_part({.end_ns = 3, .bytes = "cre", .flags = kWhole | kPeeked});
    const std::uint64_t message = take_part({.end_ns = 4, .bytes = "cret"});
    EXPECT_EQ(join(4), (Found{{message, -2}}));
    const std::uint64_t late =
        take_part({.handle_id = kFile, .end_ns = 5, .bytes = "cret", .offset = 2}, 77);
    take_part({.handle_id = kFile, .end_ns = 6, .bytes = "se", .offset = 0}, 78);
    EXPECT_EQ(join(6), (Found{{late, -2}}));
    take({.end_ns = 7, .bytes = "se"});
    take_part({.end_ns = 8, .bytes = "cret"}, 79);
    take({.end_ns = 9, .bytes = "cret"});  // after what the control block moved, nobody knows when
    take_part({.handle_id = kDatagrams, .end_ns = 10, .bytes = "se"});
    take_part({.handle_id = kDatagrams, .end_ns = 10, .bytes = "cret"});
    EXPECT_EQ(join(kEnd), Found{});
}

TEST_F(DyeJoinTest, joins_what_moves_between_two_files_with_the_neighbours_on_both) {
    take_copy({.end_ns = 1, .bytes = "se", .flags = kWhole | kInbound, .offset = 100}, 7);
    const std::uint64_t second =
        take_copy({.end_ns = 2, .bytes = "cret", .flags = kWhole | kInbound, .offset = 102}, 9);
    EXPECT_EQ(join(2), (Found{{second, -2}}));  // once, as if it lay in one call
    EXPECT_EQ(join_.crossings()[0].second, 0);
    take({.handle_id = kCopy, .end_ns = 3, .bytes = "se", .offset = 50});
    const std::uint64_t written =
        take_copy({.end_ns = 4, .bytes = "cret", .flags = kWhole | kInbound, .offset = 0}, 52);
    EXPECT_EQ(join(4), (Found{{written, -2}}));
    EXPECT_EQ(join_.crossings()[0].second, 1);
    const auto reads = kWhole | kInbound;
    take({.handle_id = kFile, .end_ns = 5, .bytes = "se", .flags = reads, .offset = 200});
    const std::uint64_t read =
        take_copy({.end_ns = 6, .bytes = "cret", .flags = reads, .offset = 202}, 300);
    EXPECT_EQ(join(6), (Found{{read, -2}}));
    EXPECT_EQ(join_.crossings()[0].second, 0);
    take({.handle_id = kCopy, .end_ns = 7, .bytes = "se", .offset = 298});
    EXPECT_EQ(join(kEnd), Found{});  // told already
}

TEST_F(DyeJoinTest, joins_no_directions_and_no_copies_whose_place_is_not_known) {
    take(
        {.handle_id = kCopy, .end_ns = 1, .bytes = "se", .flags = kWhole | kInbound, .offset = 50});
    take_copy({.end_ns = 2, .bytes = "cret", .flags = kWhole | kInbound, .offset = 0}, 52);
    take({.handle_id = kFile, .end_ns = 3, .bytes = "se", .offset = 100});
    take_copy({.end_ns = 4, .bytes = "cret", .flags = kWhole | kInbound, .offset = 102}, 1000);
    take({.handle_id = kCopy, .end_ns = 5, .bytes = "se", .offset = 70});
    take_copy({.end_ns = 6, .bytes = "cret", .flags = kWhole | kInbound, .offset = 0}, 72, false);
    take({.handle_id = kCopy, .end_ns = 7, .bytes = "sec", .offset = 80});
    take_copy({.end_ns = 8, .bytes = "x", .seen = false, .offset = 0}, 82);  // over the end of that
    take({.handle_id = kCopy, .end_ns = 9, .bytes = "ret", .offset = 83});
    EXPECT_EQ(join(kEnd), Found{});
}

TEST_F(DyeJoinTest, takes_the_bytes_off_and_leaves_the_rest) {
    take({.end_ns = 1, .bytes = "se"});
    const std::string left(base::text_of(stripped_));
    EXPECT_EQ(left.find("se"), std::string::npos);
    const auto* event = schema::as<schema::SyscallEvent>(stripped_);
    ASSERT_NE(event, nullptr);
    EXPECT_EQ(event->header.size, stripped_.size());
    EXPECT_EQ(event->attachments, stripped_.size() - sizeof(*event));
    EXPECT_EQ(schema::attachment(*event, schema::Attachment::kPath), "/a");
    stripped_.clear();
    take_part({.end_ns = 2, .bytes = "cret"});
    const auto* part = schema::as<schema::PartEvent>(stripped_);
    ASSERT_NE(part, nullptr);
    EXPECT_EQ(part->attachments, stripped_.size() - sizeof(*part));
    EXPECT_EQ(schema::attachment(*part, schema::Attachment::kPath), "/a");
    EXPECT_EQ(std::string(base::text_of(stripped_)).find("cret"), std::string::npos);
}

}  // namespace
}  // namespace dyetrace::capture
