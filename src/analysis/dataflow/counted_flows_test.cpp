// Flows through what is counted: pipes and unix sockets.
#include <gtest/gtest.h>

#include "analysis/dataflow/flow_cases.h"
#include "analysis/dataflow/flow_engine.h"

namespace dyetrace::analysis {
namespace {

TEST(PipeFlow, each_read_takes_the_next_bytes) {
    Flows flows;
    flows.add(write_of(1, piped(7), 100));
    flows.add(write_of(2, piped(7), 100));
    flows.add(read_of(3, piped(7), 150));
    flows.add(write_of(4, piped(7), 10));
    flows.add(read_of(5, piped(7), 60));
    EXPECT_EQ(flows.text(),
              "1→3 pipe 0+100 certain\n"
              "2→3 pipe 100+50 certain\n"
              "2→5 pipe 150+50 certain\n"
              "4→5 pipe 200+10 certain\n");
}

TEST(PipeFlow, a_tee_leaves_the_bytes) {
    Flows flows;
    flows.add(write_of(1, piped(7), 100));
    flows.add(copy_of(2, peek(piped(7)), piped(8), 100));
    flows.add(read_of(3, piped(7), 100));
    flows.add(read_of(4, piped(8), 100));
    EXPECT_EQ(flows.text(),
              "1→2 pipe 0+100 certain\n"
              "1→3 pipe 0+100 certain\n"
              "2→4 pipe 0+100 certain\n");
}

TEST(PipeFlow, a_writer_that_waits_for_its_readers_is_found) {
    Flows flows;
    flows.add(write_of(1, piped(7), 200).at(10, 100));
    flows.add(read_of(2, piped(7), 120).at(20, 30));
    flows.add(read_of(11, piped(7), 80));
    EXPECT_EQ(flows.text(), "1→2 pipe 0+120 certain\n1→11 pipe 120+80 certain\n");
}

TEST(PipeFlow, two_writers_at_once_are_likely_and_those_after_them_certain) {
    Flows flows;
    flows.add(write_of(1, piped(7), 100).at(10, 30));
    flows.add(write_of(2, piped(7), 100).at(20, 40));
    flows.add(write_of(5, piped(7), 100));
    flows.add(read_of(6, piped(7), 300));
    EXPECT_EQ(flows.text(),
              "1→6 pipe 0+100 likely\n"
              "2→6 pipe 100+100 likely\n"
              "5→6 pipe 200+100 certain\n");
}

TEST(PipeFlow, a_call_that_never_ended_makes_all_after_it_likely) {
    Flows flows;
    Case killed = write_of(1, piped(7), 0);
    killed.unfinished = true;
    flows.add(write_of(0, piped(7), 10)).add(killed);
    flows.add(write_of(2, piped(7), 10)).add(read_of(3, piped(7), 20));
    EXPECT_EQ(flows.text(), "0→3 pipe 0+10 likely\n2→3 pipe 10+10 likely\n");
}

TEST(PipeFlow,
     of_a_pipe_that_is_older_than_the_recording_is_certain_where_as_much_was_taken_as_was_put) {
    Flows flows;
    flows.add(write_of(1, older(piped(7)), 10));
    flows.add(read_of(2, emptied(older(piped(7))), 10));
    flows.add(write_of(3, older(piped(7)), 10));
    flows.add(read_of(4, older(piped(7)), 10));  // something may have been left
    EXPECT_EQ(flows.text(), "1→2 pipe 0+10 certain\n3→4 pipe 10+10 likely\n");
}

TEST(PipeFlow, of_a_pipe_with_bytes_of_others_is_certain_after_it_was_seen_empty) {
    Flows flows;
    flows.add(write_of(1, older(piped(7)), 10));
    flows.add(read_of(2, emptied(older(piped(7))), 30));  // 20 were there before
    flows.add(write_of(3, older(piped(7)), 10));
    flows.add(read_of(4, emptied(older(piped(7))), 10));
    flows.add(write_of(5, older(piped(7)), 10));  // and these somebody else took
    flows.add(read_of(6, emptied(older(piped(7))), 0));
    flows.add(write_of(7, older(piped(7)), 10));
    flows.add(read_of(8, emptied(older(piped(7))), 10));
    EXPECT_EQ(flows.text(),
              "1→2 pipe 0+10 likely\n3→4 pipe 30+10 certain\n7→8 pipe 50+10 certain\n");
}

TEST(PipeFlow, is_not_seen_empty_by_a_call_during_which_somebody_put_bytes) {
    Flows flows;
    flows.add(read_of(1, older(piped(7)), 5));
    flows.add(write_of(2, older(piped(7)), 10).at(20, 30));
    flows.add(read_of(3, emptied(older(piped(7))), 0).at(15, 40));  // before they came
    flows.add(read_of(5, emptied(older(piped(7))), 10));
    flows.add(write_of(6, older(piped(7)), 10));
    flows.add(read_of(7, emptied(older(piped(7))), 10));
    EXPECT_EQ(flows.text(), "2→5 pipe 5+10 certain\n6→7 pipe 15+10 certain\n");
}

TEST(PipeFlow, does_not_go_to_who_had_read_before_it_was_written) {
    Flows flows;
    flows.add(read_of(1, older(piped(7)), 10));  // of those that were there before
    for (std::uint64_t event = 2; event < 6; event += 2) {
        flows.add(write_of(event, older(piped(7)), 10));
        flows.add(read_of(event + 1, older(piped(7)), 10));
    }
    flows.add(read_of(6, older(piped(7)), 4));
    flows.add(write_of(7, older(piped(7)), 10).at(60, 75));  // the read took 4 before it was over
    EXPECT_EQ(flows.text(), "2→3 pipe 10+10 likely\n4→5 pipe 20+10 likely\n7→6 pipe 30+4 likely\n");
}

TEST(PipeFlow, is_counted_anew_after_somebody_waited_for_it_in_vain) {
    Flows flows;
    flows.add(write_of(1, older(piped(7)), 10));
    flows.add(read_of(2, older(piped(7)), 15));          // 5 were there before
    flows.add(write_of(3, older(piped(7)), 10));         // and these somebody else takes
    flows.add(read_of(4, emptied(older(piped(7))), 0));  // a poll that finds nothing
    flows.add(write_of(5, older(piped(7)), 10));
    flows.add(read_of(6, older(piped(7)), 10));
    EXPECT_EQ(flows.text(), "1→2 pipe 0+10 likely\n5→6 pipe 25+10 likely\n");
}

TEST(PipeFlow, a_call_that_never_ended_matters_until_the_pipe_is_seen_empty) {
    Flows flows;
    Case killed = write_of(2, piped(7), 0);
    killed.unfinished = true;
    flows.add(write_of(1, piped(7), 10)).add(killed).add(read_of(3, emptied(piped(7)), 15));
    flows.add(write_of(4, piped(7), 10)).add(read_of(5, piped(7), 10));
    EXPECT_EQ(flows.text(), "1→3 pipe 0+10 likely\n4→5 pipe 15+10 certain\n");
}

TEST(UnixFlow, goes_from_one_end_to_the_other) {
    Flows flows;
    flows.add(write_of(1, unix_stream(7, 8), 100));
    flows.add(write_of(2, unix_stream(8, 7), 10));
    flows.add(read_of(3, peek(unix_stream(8, 7)), 40));
    flows.add(read_of(4, unix_stream(8, 7), 100));
    flows.add(read_of(5, unix_stream(7, 8), 10));
    EXPECT_EQ(flows.text(),
              "1→3 unix 0+40 certain\n"
              "1→4 unix 0+100 certain\n"
              "2→5 unix 0+10 certain\n");
}

TEST(UnixFlow, without_a_known_peer_there_is_none) {
    Flows flows;
    flows.add(write_of(1, unix_stream(7, 0), 100));
    flows.add(read_of(2, unix_stream(8, 0), 100));
    EXPECT_EQ(flows.text(), "");
}

}  // namespace
}  // namespace dyetrace::analysis
