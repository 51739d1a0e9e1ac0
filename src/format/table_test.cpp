#include "format/table.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "format/call_summary.h"

namespace dyetrace::format {
namespace {

Table example() {
    Table table({{"process", Align::kLeft},
                 {"calls", Align::kRight},
                 {"path", Align::kLeft, Fit::kCutsMiddle}},
                2);
    table.add({"git[4699]", "1,204", "/home/somebody/source/project/.git/config"});
    table.add({"ls[1]", "2", "/"});
    return table;
}

TEST(Table, lines_up) {
    EXPECT_EQ(example().text(80),
              "  process    calls  path\n"
              "  git[4699]  1,204  /home/somebody/source/project/.git/config\n"
              "  ls[1]          2  /\n");
}

TEST(Table, cuts_what_may_be_cut_when_the_terminal_is_narrow) {
    EXPECT_EQ(example().text(40),
              "  process    calls  path\n"
              "  git[4699]  1,204  /home/s…/.git/config\n"
              "  ls[1]          2  /\n");
    EXPECT_EQ(base::display_width(cut_middle("0123456789abcdef", 9)), 9u);
    EXPECT_EQ(cut_middle("/tmp/tmp.cD3x/shop.db-journal", 20), "/tm…/shop.db-journal");
    EXPECT_EQ(cut_middle("/tmp/tmp.cD3x/shop.db-journal", 17), "…/shop.db-journal");
    EXPECT_EQ(cut_middle("/tmp/tmp.cD3x/shop.db-journal", 16), "/tmp/…db-journal");
    EXPECT_EQ(cut_middle("/tmp/tmp.cD3x/shop.db-journal", 10), "/tm…ournal");
}

TEST(Table, keeps_control_characters_away_from_the_terminal) {
    Table table({{"name"}});
    table.add({"a\x1b[2J\nb"});
    EXPECT_EQ(table.text(80, false), "a\\x1b[2J\\nb\n");
}

TEST(Table, of_nothing_is_its_titles) {
    Table table({{"name"}, {"calls", Align::kRight}});
    EXPECT_EQ(table.text(80), "name  calls\n");
    EXPECT_EQ(table.text(80, false), "");
}

TEST(CallSummary, adds_up_as_strace_c_does) {
    CallSummary summary;
    summary.add("read", false, 4'000);
    summary.add("openat", true, 10'000);
    summary.add("openat", false, 20'000);
    summary.add("close", false, 4'000);
    summary.add("close", false, 0);
    EXPECT_EQ(summary.text(),
              "% time     seconds  usecs/call     calls    errors syscall\n"
              "------ ----------- ----------- --------- --------- ----------------\n"
              " 78.95    0.000030          15         2         1 openat\n"
              " 10.53    0.000004           2         2           close\n"
              " 10.53    0.000004           4         1           read\n"
              "------ ----------- ----------- --------- --------- ----------------\n"
              "100.00    0.000038           7         5         1 total\n");
}

}  // namespace
}  // namespace dyetrace::format
