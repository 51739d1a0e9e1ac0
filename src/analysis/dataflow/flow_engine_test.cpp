#include "analysis/dataflow/flow_engine.h"

#include <gtest/gtest.h>

#include "analysis/dataflow/flow_cases.h"

namespace dyetrace::analysis {
namespace {

TEST(FileFlow, a_read_comes_from_the_last_writer_of_each_byte) {
    Flows flows;
    flows.add(write_of(1, file(7, 0), 100));
    flows.add(write_of(2, file(7, 40), 20));
    flows.add(read_of(3, file(7, 30), 50));
    EXPECT_EQ(flows.text(),
              "1→3 file 30+10 certain\n"
              "2→3 file 40+20 certain\n"
              "1→3 file 60+20 certain\n");
}

TEST(FileFlow, of_more_than_four_who_wrote_at_a_time_the_first_ones_are_left_out) {
    Flows flows;
    for (std::uint64_t i = 1; i <= 6; ++i) {
        flows.add(write_of(i, file(7, 0), 100).at(10, 20 + i));
    }
    flows.add(read_of(7, file(7, 0), 100).at(30, 40));
    EXPECT_EQ(flows.text(),
              "6→7 file 0+100 likely\n"
              "3→7 file 0+100 likely\n"
              "4→7 file 0+100 likely\n"
              "5→7 file 0+100 likely\n");
    EXPECT_EQ(flows.engine().crowded_out(), 2u);
    EXPECT_EQ(flows.engine().forgotten(), 0u);
}

TEST(FileFlow, knows_where_in_both_events_the_bytes_lie) {
    FlowEngine engine({}, {});
    const auto flows =
        flows_of(engine, {write_of(1, file(7, 1000), 100), read_of(2, file(7, 1040), 10)});
    ASSERT_EQ(flows.size(), 1u);
    EXPECT_EQ(flows[0].from_position, 40u);
    EXPECT_EQ(flows[0].to_position, 0u);
    EXPECT_EQ(flows[0].object, 7u);
    EXPECT_EQ(flows[0].to_object, 7u);
}

TEST(FileFlow, other_files_and_bytes_that_nobody_wrote_give_none) {
    Flows flows;
    flows.add(write_of(1, file(7, 0), 100));
    flows.add(read_of(2, file(8, 0), 100));
    flows.add(read_of(3, file(7, 100), 100));
    EXPECT_EQ(flows.text(), "");
}

TEST(FileFlow, what_was_cut_is_gone) {
    Flows flows;
    flows.add(write_of(1, file(7, 0), 100));
    flows.add(cut_of(2, 7, 50, UINT64_MAX));
    flows.add(write_of(3, file(7, 80), 10));
    flows.add(read_of(4, file(7, 0), 100));
    EXPECT_EQ(flows.text(), "1→4 file 0+50 certain\n3→4 file 80+10 certain\n");
}

TEST(FileFlow, what_was_there_before_an_unknown_file_was_cut_is_likely) {
    Flows flows;
    flows.add(write_of(1, file(7, 0), 100));
    flows.add(read_of(2, file(7, 0), 10));
    flows.add(cut_of(3, 0, 0, UINT64_MAX));
    flows.add(write_of(4, file(7, 50), 50));
    flows.add(read_of(5, file(7, 0), 100));
    EXPECT_EQ(flows.text(),
              "1→2 file 0+10 certain\n"
              "1→5 file 0+50 likely\n"
              "4→5 file 50+50 certain\n");
}

TEST(FileFlow, a_position_that_others_may_have_moved_is_likely) {
    Flows flows;
    flows.add(write_of(1, uncertain(file(7, 0)), 10));
    flows.add(write_of(2, file(7, 10), 10));
    flows.add(read_of(3, file(7, 0), 20));
    flows.add(read_of(4, uncertain(file(7, 10)), 10));
    EXPECT_EQ(flows.text(),
              "1→3 file 0+10 likely\n"
              "2→3 file 10+10 certain\n"
              "2→4 file 10+10 likely\n");
}

TEST(FileFlow, of_a_file_that_is_mapped_for_writing_a_write_is_likely_what_is_read) {
    Flows flows;
    flows.add(write_of(1, file(7, 0), 10));
    flows.add(read_of(2, file(7, 0), 10));
    flows.add(read_of(3, mapped(file(7, 0)), 10));
    flows.add(copy_of(4, mapped(file(7, 0)), file(8, 0), 10));
    EXPECT_EQ(flows.text(),
              "1→2 file 0+10 certain\n"
              "1→3 file 0+10 likely\n"
              "1→4 file 0+10 likely\n");
}

TEST(FileFlow, a_write_that_has_not_returned_may_have_been_read) {
    Flows flows;
    flows.add(write_of(1, file(7, 0), 100));
    flows.add(write_of(2, file(7, 0), 50).at(100, 200));
    flows.add(read_of(3, file(7, 0), 100).at(110, 120));
    EXPECT_EQ(flows.text(), "1→3 file 0+100 likely\n2→3 file 0+50 likely\n");
}

TEST(FileFlow, what_was_replaced_or_cut_during_a_read_may_have_been_read) {
    Flows flows;
    flows.add(write_of(1, file(7, 0), 100));
    flows.add(write_of(2, file(7, 0), 100).at(110, 120));
    flows.add(cut_of(15, 7, 50, 100));
    flows.add(read_of(3, file(7, 0), 100).at(100, 200));
    EXPECT_EQ(flows.text(), "2→3 file 0+50 likely\n2→3 file 50+50 likely\n1→3 file 0+100 likely\n");
}

TEST(FileFlow, a_read_that_took_long_may_have_met_the_first_of_many_writes) {
    Flows flows;
    for (std::uint64_t event = 1; event <= 500; ++event) {
        flows.add(write_of(event, file(7, 0), 100).at(event * 1000, event * 1000 + 10));
    }
    flows.add(read_of(501, file(7, 0), 100).at(1500, 600'000));
    EXPECT_EQ(std::ranges::count(flows.text(), '\n'), 500);
}

TEST(FileFlow, of_two_writes_at_once_either_may_be_the_last) {
    Flows flows;
    flows.add(write_of(1, file(7, 0), 100).at(10, 30));
    flows.add(write_of(2, file(7, 50), 100).at(20, 40));
    flows.add(read_of(5, file(7, 0), 150));
    EXPECT_EQ(flows.text(),
              "1→5 file 0+50 certain\n"
              "2→5 file 50+50 likely\n"
              "1→5 file 50+50 likely\n"
              "2→5 file 100+50 certain\n");
}

TEST(CopyFlow, is_the_end_of_one_flow_and_the_begin_of_the_next) {
    Flows flows;
    flows.add(write_of(1, file(7, 0), 100));
    flows.add(copy_of(2, file(7, 0), file(8, 1000), 100));
    flows.add(read_of(3, file(8, 1000), 50));
    EXPECT_EQ(flows.text(), "1→2 file 0+100 certain\n2→3 file 1000+50 certain\n");
}

TEST(TcpFlow, joins_the_two_ends_by_position) {
    Flows flows;
    flows.add(write_of(1, tcp(7, 99, 0), 100));
    flows.add(write_of(2, tcp(7, 99, 100), 50));
    flows.add(write_of(3, tcp(8, 99, 0), 10));
    flows.add(read_of(4, tcp(8, 99, 0), 120));
    flows.add(read_of(5, tcp(8, 99, 120), 30));
    flows.add(read_of(6, tcp(7, 99, 0), 10));
    EXPECT_EQ(flows.text(),
              "1→4 tcp 0+100 certain\n"
              "2→4 tcp 100+20 certain\n"
              "2→5 tcp 120+30 certain\n"
              "3→6 tcp 0+10 certain\n");
}

TEST(TcpFlow, a_peek_takes_nothing) {
    Flows flows;
    flows.add(write_of(1, tcp(7, 99, 0), 100));
    flows.add(read_of(2, peek(tcp(8, 99, 0)), 100));
    flows.add(read_of(3, tcp(8, 99, 0), 100));
    flows.add(read_of(4, tcp(8, 99, 0), 100));
    EXPECT_EQ(flows.text(), "1→2 tcp 0+100 certain\n1→3 tcp 0+100 certain\n");
}

TEST(TcpFlow, finds_the_writer_that_returns_after_its_readers) {
    Flows flows;
    flows.add(write_of(1, tcp(7, 99, 0), 300).at(10, 100));
    flows.add(read_of(2, peek(tcp(8, 99, 0)), 100).at(20, 30));
    flows.add(read_of(3, tcp(8, 99, 0), 100).at(30, 40));
    flows.add(read_of(4, tcp(8, 99, 100), 100).at(40, 50));
    flows.add(read_of(20, tcp(8, 99, 200), 100));
    EXPECT_EQ(flows.text(),
              "1→2 tcp 0+100 certain\n"
              "1→3 tcp 0+100 certain\n"
              "1→4 tcp 100+100 certain\n"
              "1→20 tcp 200+100 certain\n");
}

TEST(TcpFlow, a_third_socket_with_the_same_connection_is_left_out) {
    Flows flows;
    flows.add(write_of(1, tcp(7, 99, 0), 100));
    flows.add(read_of(2, tcp(8, 99, 0), 50));
    flows.add(read_of(3, tcp(9, 99, 50), 50));
    EXPECT_EQ(flows.text(), "1→2 tcp 0+50 certain\n");
}

TEST(MessageFlow, is_by_message_even_when_the_receiver_cuts_it) {
    Flows flows;
    flows.add(write_of(1, messages(7, 8), 100));
    flows.add(write_of(2, messages(7, 8), 40));
    flows.add(read_of(3, peek(messages(8, 7)), 10));
    flows.add(read_of(4, messages(8, 7), 30));
    flows.add(read_of(5, messages(8, 7), 40));
    EXPECT_EQ(flows.text(),
              "1→3 unix 0+10 certain\n"
              "1→4 unix 0+30 certain\n"
              "2→5 unix 100+40 certain\n");
}

TEST(MessageFlow, a_queue_that_nobody_reads_stays_within_its_limit) {
    Flows flows;
    for (std::uint64_t i = 1; i <= kWaitingMessagesMax + 10; ++i) {
        flows.add(write_of(i, messages(7, 8), 1));
    }
    EXPECT_EQ(flows.text(), "");
    EXPECT_EQ(flows.engine().forgotten(), 10u);
}

TEST(DatagramFlow, is_by_ports_and_content_whatever_is_lost_or_overtakes) {
    Flows flows;
    flows.add(write_of(1, datagrams(7, 40000, 53), 30).saying(1));
    flows.add(write_of(2, datagrams(7, 40000, 53), 30).saying(2));
    flows.add(write_of(3, datagrams(7, 40000, 53), 30).saying(3));
    flows.add(write_of(4, datagrams(9, 40001, 53), 30).saying(1));
    flows.add(read_of(5, datagrams(8, 40001, 53), 30).saying(1));
    flows.add(read_of(6, peek(datagrams(8, 40000, 53)), 30).saying(3));
    flows.add(read_of(7, datagrams(8, 40000, 53), 30).saying(3));
    flows.add(read_of(8, datagrams(8, 40000, 53), 30).saying(1));
    EXPECT_EQ(flows.text(),
              "4→5 udp 0+30 likely\n"
              "3→6 udp 0+30 likely\n"
              "3→7 udp 0+30 likely\n"
              "1→8 udp 0+30 likely\n");
}

TEST(DatagramFlow, may_be_told_of_its_end_first) {
    Flows flows;
    flows.add(read_of(1, datagrams(8, 40000, 53), 30).by(5).saying(1));
    flows.add(write_of(2, datagrams(7, 40000, 53), 30).by(6).saying(1));
    EXPECT_EQ(flows.text(), "2→1 udp 0+30 likely\n");
}

TEST(DatagramFlow, without_content_is_possible_and_without_ports_not_there) {
    Flows flows;
    flows.add(write_of(1, datagrams(7, 40000, 53), 30));
    flows.add(write_of(2, datagrams(7, 40000, 53), 31));
    flows.add(read_of(3, datagrams(8, 40000, 53), 31));
    flows.add(write_of(4, datagrams(7, 0, 0), 5));
    flows.add(read_of(5, datagrams(8, 0, 0), 5));
    EXPECT_EQ(flows.text(), "2→3 udp 0+31 possible\n");
}

TEST(DatagramFlow, is_between_addresses_that_agree) {
    const auto sent_by = [](std::uint64_t object, std::uint32_t own, std::uint32_t far) {
        return with_addresses(datagrams(object, 123, 123), own, far);
    };
    Flows flows;
    flows.add(write_of(1, sent_by(7, 11, 99), 48));
    flows.add(write_of(2, sent_by(8, 22, 99), 48));
    flows.add(write_of(3, sent_by(9, 0, 77), 48));
    flows.add(read_of(4, with_addresses(datagrams(5, 123, 123), 99, 22), 48));
    flows.add(read_of(5, with_addresses(datagrams(5, 123, 123), 99, 33), 48));
    flows.add(read_of(6, with_addresses(datagrams(6, 123, 123), 0, 33), 48));
    flows.add(write_of(7, sent_by(10, 33, 99), 48));
    EXPECT_EQ(flows.text(),
              "2→4 udp 0+48 possible\n"
              "3→6 udp 0+48 possible\n"
              "7→5 udp 0+48 possible\n");
}

TEST(DatagramFlow, of_a_kind_of_which_one_was_forgotten_nothing_more_is_said) {
    Flows flows;
    flows.add(write_of(1, datagrams(7, 40000, 53), 1).saying(1));
    for (std::uint64_t i = 2; i <= kDatagramsWaitingMax + 1; ++i) {
        flows.add(write_of(i, datagrams(7, 40000, 53), 1).saying(i == 2 ? 1 : i));
    }
    flows.add(read_of(kDatagramsWaitingMax + 2, datagrams(8, 40000, 53), 1).saying(1));
    EXPECT_EQ(flows.text(), "") << "it may be 1, which is not known any more";
    EXPECT_EQ(flows.engine().forgotten(), 2u);
}

TEST(DatagramFlow, those_that_nobody_takes_stay_within_their_limit) {
    Flows flows;
    for (std::uint64_t i = 1; i <= kDatagramsWaitingMax + 10; ++i) {
        flows.add(write_of(i, datagrams(7, 40000, 53), 1).saying(i));
    }
    flows.add(read_of(kDatagramsWaitingMax + 11, datagrams(8, 40000, 53), 1).saying(10));
    flows.add(read_of(kDatagramsWaitingMax + 12, datagrams(8, 40000, 53), 1).by(6).saying(12));
    EXPECT_EQ(flows.text(), "12→65548 udp 0+1 likely\n");
    EXPECT_EQ(flows.engine().forgotten(), 11u) << "and one that may be one of them";
}

TEST(HashFlow, joins_equal_bytes_inside_a_process) {
    Flows flows;
    flows.add(read_of(1, file(7, 300), 100).by(5).saying(42));
    flows.add(write_of(2, file(8, 0), 100).by(5).saying(42));
    flows.add(write_of(3, file(8, 100), 100).by(6).saying(42));
    flows.add(write_of(4, file(8, 200), 99).by(5).saying(42));
    EXPECT_EQ(flows.text(), "1→2 hash 300>0+100 likely\n");
}

TEST(HashFlow, needs_the_read_before_the_write) {
    Flows flows;
    flows.add(write_of(1, file(8, 0), 100).by(5).saying(42));
    flows.add(read_of(2, file(7, 0), 100).by(5).saying(42).at(20, 40));
    flows.add(write_of(3, file(8, 0), 100).by(5).saying(42).at(30, 50));
    EXPECT_EQ(flows.text(), "");
}

TEST(HashFlow, leaves_out_what_the_kernel_copied) {
    Flows flows;
    flows.add(read_of(1, file(7, 0), 100).by(5).saying(42));
    flows.add(copy_of(2, file(7, 0), file(8, 0), 100).by(5).saying(42));
    flows.add(write_of(3, file(9, 0), 100).by(5).saying(42));
    EXPECT_EQ(flows.text(), "1→3 hash 0+100 likely\n");
}

TEST(HashFlow, of_few_bytes_is_chance) {
    Flows flows;
    flows.add(read_of(1, file(7, 0), kHashBytesMin - 1).by(5).saying(42));
    flows.add(write_of(2, file(8, 0), kHashBytesMin - 1).by(5).saying(42));
    flows.add(read_of(3, file(7, 0), kHashBytesMin).by(5).saying(42));
    flows.add(write_of(4, file(8, 0), kHashBytesMin).by(5).saying(42));
    EXPECT_EQ(flows.text(), "3→4 hash 0+16 likely\n");
}

TEST(HashFlow, a_child_knows_what_its_parent_knew_when_it_was_made) {
    Flows flows({}, {.processes = {{.process = 6, .parent = 5, .start_ns = 15}, {7, 6, 16}}});
    flows.add(read_of(1, file(7, 0), 100).by(5).saying(42).at(5, 10));
    flows.add(write_of(2, file(8, 0), 100).by(6).saying(42));
    flows.add(write_of(3, file(8, 0), 100).by(7).saying(42));
    flows.add(read_of(4, file(7, 0), 100).by(5).saying(43));
    flows.add(write_of(5, file(8, 0), 100).by(6).saying(43));
    EXPECT_EQ(flows.text(), "1→2 hash 0+100 likely\n1→3 hash 0+100 likely\n");
}

// Redis does so without a disk: a child that it made sends what it holds over a pipe to its parent, whose reads of it end before the child's write does.
TEST(HashFlow, is_of_the_last_read_that_the_writer_may_have) {
    Flows flows({}, {.processes = {{.process = 6, .parent = 5, .start_ns = 15}}});
    flows.add(read_of(1, file(7, 0), 100).by(5).saying(42).at(3, 5));
    flows.add(read_of(2, file(7, 0), 100).by(5).saying(42).at(5, 10));
    flows.add(read_of(3, piped(9), 100).by(5).saying(42).at(20, 30));
    flows.add(read_of(4, piped(9), 100).by(5).saying(42).at(30, 40));
    flows.add(write_of(5, file(8, 0), 100).by(6).saying(42).at(18, 45));
    flows.add(write_of(6, file(8, 100), 100).by(5).saying(42).at(35, 50));
    EXPECT_EQ(flows.text(), "2→5 hash 0+100 likely\n3→6 hash 0>100+100 likely\n");
}

TEST(HashFlow, of_the_last_reads_of_a_content_remembers_no_more_than_the_limit) {
    Flows flows({.reads_max = 100});
    for (std::uint64_t i = 1; i <= 1 + kTakensEach; ++i) {
        flows.add(read_of(i, file(7, 0), 100).by(5).saying(42).at(10 * i, 10 * i + 5));
    }
    flows.add(write_of(20, file(8, 0), 100).by(5).saying(42).at(26, 90));  // 2 has ended
    flows.add(write_of(21, file(9, 0), 100).by(5).saying(42).at(16, 95));  // none but 1 has
    EXPECT_EQ(flows.text(), "2→20 hash 0+100 likely\n");
}

TEST(HashFlow, remembers_no_more_than_the_limit) {
    Flows flows({.reads_max = 4});
    for (std::uint64_t i = 1; i <= 12; ++i) {
        flows.add(read_of(i, file(7, 0), 100).by(5).saying(i));
    }
    flows.add(write_of(20, file(8, 0), 100).by(5).saying(1));
    flows.add(write_of(21, file(8, 0), 100).by(5).saying(12));
    EXPECT_EQ(flows.text(), "12→21 hash 0+100 likely\n");
    EXPECT_EQ(flows.engine().forgotten(), 8u);
}

TEST(AnchorFlow, joins_what_was_cut_in_another_way) {
    // 7: 300..1300 in two reads; written together, after a frame of 10 bytes
    const std::vector<Anchor> first = {{100, 1}, {400, 2}}, second = {{-20, 3}, {200, 4}};
    const std::vector<Anchor> both = {{110, 1}, {410, 2}, {490, 3}, {710, 4}};
    Flows flows;
    flows.add(read_of(1, file(7, 300), 500).by(5).with(first));
    flows.add(read_of(2, file(7, 800), 500).by(5).with(second));
    flows.add(write_of(3, file(8, 0), 1010).by(5).with(both));
    EXPECT_EQ(flows.text(),
              "1→3 anchor 400>110+400 likely\n"
              "2→3 anchor 800>510+232 likely\n");
}

TEST(AnchorFlow, of_pieces_that_do_not_follow_each_other_is_as_long_as_the_anchors_show) {
    const std::vector<Anchor> here = {{0, 1}, {100, 2}}, there = {{50, 3}},
                              all = {{0, 1}, {100, 2}, {300, 3}};
    Flows flows;
    flows.add(read_of(1, file(7, 0), 200).by(5).with(here));
    flows.add(read_of(2, file(9, 0), 200).by(5).with(there));
    flows.add(write_of(3, file(8, 0), 400).by(5).with(all));
    EXPECT_EQ(flows.text(),
              "1→3 anchor 0+132 likely\n"
              "2→3 anchor 50>300+32 likely\n");
}

TEST(AnchorFlow, leaves_out_what_a_fingerprint_says_and_what_others_read) {
    const std::vector<Anchor> windows = {{0, 1}};
    Flows flows;
    flows.add(read_of(1, file(7, 0), 100).by(5).saying(42).with(windows));
    flows.add(write_of(2, file(8, 0), 100).by(5).saying(42).with(windows));
    flows.add(write_of(3, file(8, 0), 100).by(6).with(windows));
    EXPECT_EQ(flows.text(), "1→2 hash 0+100 likely\n");
}

TEST(AnchorFlow, remembers_no_more_than_the_limit) {
    Flows flows({.anchors_max = 4});
    std::vector<std::vector<Anchor>> windows;
    for (std::uint64_t i = 1; i <= 12; ++i) {
        windows.push_back({{0, i}});
    }
    for (std::uint64_t i = 1; i <= 12; ++i) {
        flows.add(read_of(i, file(7, 0), 100).by(5).with(windows[i - 1]));
    }
    flows.add(write_of(20, file(8, 0), 100).by(5).with(windows[0]));
    flows.add(write_of(21, file(8, 0), 100).by(5).with(windows[11]));
    EXPECT_EQ(flows.text(), "12→21 anchor 0+32 likely\n");
    EXPECT_EQ(flows.engine().forgotten(), 8u);
}

TEST(DyeFlow, goes_from_a_read_to_a_later_write_in_any_form) {
    const std::vector<DyeMark> plain = {{20, 9, 16}}, hex = {{5, 9, 32}}, crossing = {{-4, 9, 16}};
    Flows flows;
    flows.add(read_of(1, file(7, 100), 50).by(5).carrying(plain));
    flows.add(write_of(2, file(8, 0), 50).by(5).carrying(hex));
    flows.add(write_of(3, file(8, 50), 50).by(5).carrying(crossing));
    flows.add(write_of(4, file(8, 100), 50).by(6).carrying(plain));
    EXPECT_EQ(flows.text(), "1→2 dye 120>5+16 likely\n1→3 dye 120>50+12 likely\n");
}

// Process 4 maps memory at 5 and makes 5 and 6; 7 begins another program; 8 was made before.
Lineage kin() {
    return {.processes = {{4, 1, 0}, {5, 4, 6}, {6, 4, 7}, {7, 4, 8}, {8, 4, 4}, {9, 7, 12}},
            .memories = {{4, 77, 5}},
            .programs = {{7, 9}}};
}

TEST(SharedMemory, lets_one_process_write_what_another_one_read) {
    Flows flows({}, kin());
    flows.add(read_of(10, file(7, 0), 100).by(5).saying(42));
    flows.add(write_of(11, file(8, 0), 100).by(6).saying(42));
    flows.add(write_of(12, file(8, 0), 100).by(7).saying(42));
    flows.add(write_of(13, file(8, 0), 100).by(8).saying(42));
    flows.add(write_of(14, file(8, 0), 100).by(9).saying(42));
    EXPECT_EQ(flows.text(), "10→11 hash 0+100 likely\n");
}

TEST(SharedMemory, is_what_several_map_by_name_and_joins_what_one_of_them_has) {
    const Lineage two{.processes = {},
                      .memories = {{5, 77, 1}, {6, 77, 2}, {6, 78, 3}, {7, 78, 3}, {8, 79, 3}},
                      .programs = {}};
    Flows flows({}, two);
    flows.add(read_of(10, file(7, 0), 100).by(5).saying(42));
    flows.add(write_of(11, file(8, 0), 100).by(7).saying(42));
    flows.add(write_of(12, file(8, 0), 100).by(8).saying(42));
    EXPECT_EQ(flows.text(), "10→11 hash 0+100 likely\n");
}

TEST(SharedMemory, of_processes_that_claim_to_have_made_each_other_ends) {
    const Lineage circle{
        .processes = {{5, 6, 10}, {6, 5, 10}}, .memories = {{5, 77, 10}}, .programs = {}};
    Flows flows({}, circle);
    flows.add(read_of(10, file(7, 0), 100).by(5).saying(42));
    flows.add(write_of(11, file(8, 0), 100).by(6).saying(42));
    EXPECT_EQ(flows.text(), "10→11 hash 0+100 likely\n");
}

TEST(FlowEngine, forgets_the_oldest_ranges_over_the_limit_and_counts_them) {
    Flows flows({.extents_max = 8});
    for (std::uint64_t i = 1; i <= 9; ++i) {
        flows.add(write_of(i, file(i, 0), 10));
    }
    flows.add(read_of(20, file(1, 0), 10)).add(read_of(21, file(9, 0), 10));
    EXPECT_EQ(flows.text(), "9→21 file 0+10 certain\n");
    EXPECT_EQ(flows.engine().forgotten(), 3u);
}

TEST(FlowEngine, forgets_the_oldest_streams_over_the_limit_and_counts_them) {
    Flows flows({.streams_max = 4});
    for (std::uint64_t i = 1; i <= 5; ++i) {
        flows.add(write_of(i, piped(i), 10));
    }
    flows.add(read_of(20, piped(5), 10));
    EXPECT_EQ(flows.text(), "5→20 pipe 0+10 certain\n");
    EXPECT_EQ(flows.engine().forgotten(), 2u);
}

}  // namespace
}  // namespace dyetrace::analysis
