#include "capture/dye_join.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>

#include "base/file.h"
#include "schema/record_builder.h"

namespace dyetrace::capture {
namespace {

constexpr std::uint32_t kPipe = 1, kFile = 2, kDatagrams = 3;
constexpr std::uint32_t kInbound = 1, kWhole = 2, kPeeked = 4;
constexpr std::uint64_t kEnd = UINT64_MAX;

class DyeJoinTest : public testing::Test {
  protected:
    DyeJoinTest() {
        EXPECT_TRUE(table_.build({{1, schema::DyeForm::kPlain, "secret", false}}).ok());
        announce(kPipe, schema::ObjectType::kPipe);
        announce(kFile, schema::ObjectType::kFile);
        announce(kDatagrams, schema::ObjectType::kSocket);
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
        event.header.sequence = ++sequence_;
        event.start_ns = call.end_ns;
        event.handle_id = call.handle_id;
        event.bytes = static_cast<std::int64_t>(call.bytes.size());
        event.present = schema::SyscallEvent::kHasHandle | schema::SyscallEvent::kHasBytes;
        if (call.offset) {
            event.file_offset = *call.offset;
            event.present |= schema::SyscallEvent::kHasFileOffset;
            event.present |= call.certain ? schema::SyscallEvent::kHasOffsetCertain : 0u;
        }
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
    schema::PartEvent part{};
    part.start_ns = 7;
    part.handle_id = kPipe;
    part.bytes = 1;
    join_.take(0, schema::build(part).bytes(), stripped_);
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

TEST_F(DyeJoinTest, takes_the_bytes_off_and_leaves_the_rest) {
    take({.end_ns = 1, .bytes = "se"});
    const std::string left(base::text_of(stripped_));
    EXPECT_EQ(left.find("se"), std::string::npos);
    const auto* event = schema::as<schema::SyscallEvent>(stripped_);
    ASSERT_NE(event, nullptr);
    EXPECT_EQ(event->header.size, stripped_.size());
    EXPECT_EQ(event->attachments, stripped_.size() - sizeof(*event));
    EXPECT_EQ(schema::attachment(*event, schema::Attachment::kPath), "/a");
}

}  // namespace
}  // namespace dyetrace::capture
