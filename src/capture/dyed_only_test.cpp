#include "capture/dyed_only.h"

#include <gtest/gtest.h>

#include <string>

#include "schema/record_builder.h"

namespace dyetrace::capture {
namespace {

constexpr std::uint64_t kLater = 100;

class DyedOnlyTest : public testing::Test {
  protected:
    // What the first `count` letters stand for: c a call that ends at `end_ns`, h a hit, p a part.
    void hold(std::uint32_t cpu, std::string_view letters, std::uint64_t end_ns = 0) {
        for (const char letter : letters) {
            if (letter == 'c') {
                schema::SyscallEvent call{};
                call.start_ns = call.duration_ns = end_ns / 2;
                add(cpu, call);
            } else if (letter == 'h') {
                add(cpu, schema::DyeHit{});
            } else {
                add(cpu, schema::PartEvent{});
            }
        }
    }
    // Sequences of what goes on, and of which CPU: "0:1 0:2 ".
    std::string release(std::uint64_t until_ns) {
        std::string result;
        only_.release(until_ns, [&](std::uint32_t cpu, std::span<const std::byte> records) {
            while (!records.empty()) {
                const schema::RecordBytes record = schema::first_record(records);
                result += std::to_string(cpu) + ":" +
                          std::to_string(schema::header_of(record).sequence) + " ";
                records = records.subspan(record.size());
            }
        });
        return result;
    }

    DyedOnly only_;

  private:
    template <typename Record>
    void add(std::uint32_t cpu, Record record) {
        record.header.sequence = ++sequence_;
        only_.hold(cpu, schema::build(record).bytes());
    }
    std::uint64_t sequence_ = 0;
};

TEST_F(DyedOnlyTest, lets_a_call_go_on_with_all_that_belongs_to_it_if_a_hit_does) {
    hold(0, "cchcpcph");  // 1, 2 3, 4 5, 6 7 8
    EXPECT_EQ(release(kLater), "0:2 0:3 0:6 0:7 0:8 ");
    EXPECT_EQ(only_.left_out(0), 3u);
}

TEST_F(DyedOnlyTest, goes_by_hits_and_not_by_bytes_that_nobody_saw) {
    for (const dyes_found look : {dyes_found{0, 0, 9}, {1, 0, 0}, {0, 1, 0}}) {
        const std::string_view bytes(reinterpret_cast<const char*>(&look), sizeof(look));
        only_.hold(
            0, schema::build(schema::SyscallEvent{}, {{schema::Attachment::kDyes, bytes}}).bytes());
    }
    EXPECT_EQ(release(kLater), "0:0 0:0 ");
    EXPECT_EQ(only_.left_out(0), 1u);
}

TEST_F(DyedOnlyTest, keeps_what_a_crossing_ends_in) {
    hold(0, "cc");
    hold(1, "cc");
    only_.keep(0, 2);
    only_.keep(1, 1);  // of the other CPU
    EXPECT_EQ(release(kLater), "0:2 ");
    EXPECT_EQ(only_.left_out(0), 1u);
    EXPECT_EQ(only_.left_out(1), 2u);
}

TEST_F(DyedOnlyTest, keeps_the_call_of_a_part_that_a_crossing_ends_in) {
    hold(0, "cppcp");  // 1 2 3, 4 5
    only_.keep(0, 3);
    EXPECT_EQ(release(kLater), "0:1 0:2 0:3 ");
    EXPECT_EQ(only_.left_out(0), 2u);
}

TEST_F(DyedOnlyTest, lets_wait_what_ended_later) {
    hold(0, "c", 10);
    hold(0, "cp", 30);
    hold(0, "ch", 20);
    only_.keep(0, 2);
    EXPECT_EQ(release(20), "");
    EXPECT_EQ(only_.left_out(0), 1u);
    EXPECT_EQ(release(30), "0:2 0:3 0:4 0:5 ");
    EXPECT_EQ(release(kLater), "");
    EXPECT_EQ(only_.left_out(0), 1u);
}

}  // namespace
}  // namespace dyetrace::capture
