#include "capture/payload_join.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cstring>

#include "base/file.h"
#include "kernel/abi.h"

namespace dyetrace::capture {
namespace {

constexpr std::uint32_t kFileHandle = 7, kSocketHandle = 8;

template <typename Record>
std::vector<std::byte> bytes_of(Record record) {
    record.header.size = sizeof(record);
    record.header.type = Record::kId;
    const auto bytes = std::as_bytes(std::span(&record, 1));
    return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> handle(std::uint32_t id, std::uint32_t object, schema::ObjectType type) {
    schema::Handle record{};
    record.handle_id = id;
    record.object_id = object;
    record.object_type = static_cast<std::uint8_t>(type);
    return bytes_of(record);
}

std::vector<std::byte> event(std::uint64_t sequence,
                             std::uint16_t call,
                             std::uint32_t handle_id,
                             std::uint64_t end_ns = 100,
                             std::int64_t bytes = 0) {
    schema::SyscallEvent record{};
    record.header.sequence = sequence;
    record.syscall = call;
    record.handle_id = handle_id;
    record.file_offset = 4096;
    record.stream_offset = 500;
    record.present = schema::SyscallEvent::kHasFileOffset |
                     schema::SyscallEvent::kHasOffsetCertain |
                     schema::SyscallEvent::kHasStreamOffset;
    record.start_ns = end_ns;
    record.bytes = bytes;
    record.present |= schema::SyscallEvent::kHasBytes;
    return bytes_of(record);
}

std::vector<std::byte> piece(std::uint64_t event, std::uint64_t position, std::string_view text) {
    payload_piece piece{};
    piece.size = static_cast<std::uint32_t>(sizeof(piece) + (text.size() + 7) / 8 * 8);
    piece.event_sequence = event;
    piece.position = position;
    piece.length = static_cast<std::uint32_t>(text.size());
    std::vector<std::byte> bytes(piece.size);
    std::memcpy(bytes.data(), &piece, sizeof(piece));
    std::memcpy(bytes.data() + sizeof(piece), text.data(), text.size());
    return bytes;
}

class Join : public testing::Test {
  protected:
    Join() {
        join_.take_facts(handle(kFileHandle, 70, schema::ObjectType::kFile));
        join_.take_facts(handle(kSocketHandle, 80, schema::ObjectType::kSocket));
    }
    std::vector<Payload> release(std::uint64_t before_ns = UINT64_MAX) {
        std::vector<Payload> out;
        join_.release(before_ns, [&](Payload payload) { out.push_back(std::move(payload)); });
        return out;
    }

    PayloadJoin join_{2, 1000};
};

TEST_F(Join, gives_pieces_the_place_of_their_event) {
    join_.take_payload(0, piece(5, 0, "first"));
    join_.take_payload(0, piece(5, 65280, "second"));
    join_.take_events(0, event(5, SYS_pread64, kFileHandle));
    const std::vector<Payload> out = release();
    ASSERT_EQ(out.size(), 2u);
    EXPECT_EQ(base::text_of(out[0].bytes), "first");
    EXPECT_EQ(out[0].place, 4096u);
    EXPECT_EQ(out[1].place, 4096u + 65280);
    EXPECT_EQ(out[1].sequence, 5u);
    EXPECT_EQ(out[1].lane, (Lane{70, false})) << "what is read is what is written";
}

TEST_F(Join, puts_together_what_follows_without_a_hole) {
    join_.take_payload(0, piece(5, 10, "first"));
    join_.take_payload(0, piece(5, 15, "second"));
    join_.take_payload(0, piece(5, 30, "third"));
    join_.take_payload(0, piece(6, 35, "of another"));
    join_.take_events(0, event(5, SYS_read, kFileHandle));
    const std::vector<Payload> out = release();
    ASSERT_EQ(out.size(), 2u);
    EXPECT_EQ(base::text_of(out[0].bytes), "firstsecond");
    EXPECT_EQ(base::text_of(out[1].bytes), "third");
    EXPECT_EQ(out[1].place, 4096u + 30);
}

TEST_F(Join, knows_no_place_that_is_not_sure_or_one_of_two) {
    schema::SyscallEvent copy{};
    copy.header.sequence = 1;
    copy.handle_id = kFileHandle;
    copy.present = schema::SyscallEvent::kHasFileOffset | schema::SyscallEvent::kHasOffsetCertain |
                   schema::SyscallEvent::kHasHandle2;
    schema::SyscallEvent overlapped{};
    overlapped.header.sequence = 2;
    overlapped.handle_id = kFileHandle;
    overlapped.present = schema::SyscallEvent::kHasFileOffset;
    join_.take_payload(0, piece(1, 0, "copied"));
    join_.take_payload(0, piece(2, 0, "written"));
    join_.take_events(0, bytes_of(copy));
    join_.take_events(0, bytes_of(overlapped));
    for (const Payload& payload : release()) {
        EXPECT_FALSE(payload.place) << base::text_of(payload.bytes);
    }
}

TEST_F(Join, loses_the_oldest_when_too_much_waits) {
    join_.take_payload(0, piece(1, 0, std::string(600, 'a')));
    join_.take_payload(0, piece(2, 0, std::string(600, 'b')));
    join_.take_events(0, event(1, SYS_read, kFileHandle));
    EXPECT_TRUE(release().empty());
    join_.take_events(0, event(2, SYS_read, kFileHandle));
    EXPECT_EQ(release().size(), 1u);
    EXPECT_EQ(join_.lost_bytes(), 600u);
    EXPECT_EQ(join_.left_out_bytes(), 0u);
}

TEST_F(Join, tells_the_directions_of_a_socket_apart) {
    join_.take_payload(1, piece(1, 0, "in"));
    join_.take_events(1, event(1, SYS_recvfrom, kSocketHandle));
    join_.take_payload(1, piece(2, 0, "out"));
    join_.take_events(1, event(2, SYS_sendto, kSocketHandle));
    const std::vector<Payload> out = release();
    ASSERT_EQ(out.size(), 2u);
    EXPECT_EQ(out[0].lane, (Lane{80, true}));
    EXPECT_EQ(out[1].lane, (Lane{80, false}));
    EXPECT_EQ(out[1].place, 500u) << "in the stream";
}

TEST_F(Join, leaves_out_what_belongs_to_no_kept_event) {
    join_.take_payload(0, piece(1, 0, "filtered"));
    join_.take_payload(0, piece(2, 0, "kept"));
    join_.take_payload(0, piece(3, 0, "filtered too"));
    join_.take_payload(0, piece(9, 0, "to come"));
    join_.take_events(0, event(2, SYS_read, kFileHandle));
    join_.pass(0, 4);
    const std::vector<Payload> out = release();
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(base::text_of(out[0].bytes), "kept");
    EXPECT_EQ(join_.left_out_bytes(), 20u);
    join_.give_up();
    EXPECT_EQ(join_.left_out_bytes(), 27u);
}

TEST_F(Join, releases_in_the_order_of_the_ends_and_not_too_early) {
    join_.take_payload(0, piece(1, 0, "later"));
    join_.take_payload(1, piece(1, 0, "earlier"));
    join_.take_payload(1, piece(2, 0, "last"));
    join_.take_events(0, event(1, SYS_write, kSocketHandle, 200));
    join_.take_events(1, event(1, SYS_write, kSocketHandle, 100));
    join_.take_events(1, event(2, SYS_write, kSocketHandle, 300));
    const std::vector<Payload> out = release(250);
    ASSERT_EQ(out.size(), 2u);
    EXPECT_EQ(base::text_of(out[0].bytes), "earlier");
    EXPECT_EQ(base::text_of(out[1].bytes), "later");
    EXPECT_EQ(release().size(), 1u);
}

TEST_F(Join, takes_no_piece_that_says_it_is_longer_than_it_is) {
    std::vector<std::byte> bytes = piece(1, 0, "text");
    reinterpret_cast<payload_piece*>(bytes.data())->length = 1u << 30;
    join_.take_payload(0, bytes);
    join_.take_events(0, event(1, SYS_read, kFileHandle));
    EXPECT_TRUE(release().empty());
}

}  // namespace
}  // namespace dyetrace::capture
