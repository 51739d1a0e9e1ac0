#include <gtest/gtest.h>

#include "apps/question_words.h"
#include "apps/verify_answer.h"
#include "base/json.h"
#include "base/text.h"

namespace dyetrace::apps {
namespace {

using analysis::Change;
using analysis::Outcome;
using analysis::Place;

// A file read, sent, received and written; the sender sent it bad.
VerifyAnswer answer_with(const Change& change) {
    VerifyAnswer answer;
    answer.question = "/a";
    answer.copies = {
        {.who = "cat[1]", .name = "read", .what = "/a", .end = 5000, .calls = 2, .first_event = 11},
        {.who = "cat[1]", .name = "sendto", .what = "1.1.1.1:1→2.2.2.2:2", .end = 5000, .calls = 1},
        {.who = "nc[2]", .name = "recvfrom", .what = "1.1.1.1:1→2.2.2.2:2", .end = 5000},
        {.who = "nc[2]",
         .name = "write",
         .what = "/a/path/with/a/name/that/is/longer/than/a/line/of/a/terminal/may/ever/be/copy",
         .end = 5000}};
    answer.verdict.references = {0};
    answer.verdict.copies_compared = 3;
    answer.verdict.compared_bytes = 14'000;
    answer.verdict.unknown_bytes = 1000;
    answer.verdict.changes = {change};
    answer.overwriters = {""};
    return answer;
}

Change change_in_memory() {
    Change change;
    change.good = 0;
    change.bad = 1;
    change.later = {2, 3};
    change.stretch = {1000, 2500, 1000, 2500, Outcome::kChanged};
    change.good_begin = 1000;
    change.good_event = 12;
    change.bad_event = 13;
    change.place = Place::kMemory;
    return change;
}

TEST(VerifyText, says_where_between_which_calls_and_what_was_compared) {
    EXPECT_EQ(verify_text(answer_with(change_in_memory()), {}),
              "/a · are its copies the same?\n"
              "reference  cat[1] read /a 0–5,000\n"
              "CHANGED    1,000–2,500 (1,500 bytes)\n"
              "  in the memory of cat[1]\n"
              "  last good  cat[1] read /a\n"
              "             at 1,000 · event 12\n"
              "  first bad  cat[1] sendto 1.1.1.1:1→2.2.2.2:2\n"
              "             at 1,000 · event 13\n"
              "  later bad  2 copies: nc[2] recvfrom 1.1.1.1:1→2.2.2.2:2, nc[2] write /a/path/…\n"
              "A program that means to change bytes looks the same.\n"
              "3 copies · 14,000 bytes compared, 1,000 could not be\n"
              "1 change · no gaps in this time\n");
}

TEST(VerifyText, has_words_for_every_place) {
    Change change = change_in_memory();
    const auto said = [&](Place place, const std::string& overwriter) {
        change.place = place;
        VerifyAnswer answer = answer_with(change);
        answer.overwriters = {overwriter};
        const std::string text = verify_text(answer, {});
        const std::size_t at = text.find("bytes)\n") + 7;
        return text.substr(at, text.find('\n', at) - at);
    };
    EXPECT_EQ(said(Place::kFile, ""),
              "  in the file: its page cache, its disk, or a writer that was not seen");
    EXPECT_EQ(said(Place::kFile, "vi[7] write"), "  in the file: vi[7] write wrote there");
    EXPECT_EQ(said(Place::kNetwork, ""), "  on the network");
    EXPECT_EQ(said(Place::kPipe, ""), "  in the pipe or socket");
    EXPECT_EQ(said(Place::kBetween, ""), "  between these two");
    change.bad = 2;
    EXPECT_EQ(said(Place::kMemory, ""), "  in the memory of cat[1] or nc[2], which it made");
}

TEST(VerifyText, says_how_many_bytes_came_or_went) {
    Change change = change_in_memory();
    change.stretch = {1000, 2500, 1000, 2501, Outcome::kResized};
    EXPECT_NE(verify_text(answer_with(change), {}).find("(1,500 bytes), 1 put in\n"),
              std::string::npos);
    change.stretch.copy_end = 2000;
    EXPECT_NE(verify_text(answer_with(change), {}).find("(1,500 bytes), 500 taken out\n"),
              std::string::npos);
}

TEST(VerifyText, stays_within_the_line_and_tells_a_screen_of_changes) {
    Change change = change_in_memory();
    change.bad = 3;
    VerifyAnswer answer = answer_with(change);
    answer.verdict.changes.assign(kChangesTold + 5, change);
    answer.overwriters.assign(kChangesTold + 5, "");
    const std::string text = verify_text(answer, {});
    EXPECT_NE(text.find("… 5 more changes"), std::string::npos);
    std::size_t lines = 0;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1, ++lines) {
        EXPECT_LE(base::display_width(text.substr(at, text.find('\n', at) - at)), 80u);
    }
    EXPECT_EQ(lines, 2 + kChangesTold * 7 + 4);
}

TEST(VerifyText, of_what_nobody_passed_on_says_so) {
    VerifyAnswer answer;
    answer.question = "/a";
    EXPECT_EQ(verify_text(answer, {}),
              "/a · are its copies the same?\n"
              "nothing has the same bytes as far as this was recorded\n"
              "0 copies · 0 bytes compared, 0 could not be\n"
              "no change · no gaps in this time\n");
}

TEST(VerifyJson, has_numbers_and_ids) {
    const auto json = base::Json::parse(verify_json(answer_with(change_in_memory())));
    ASSERT_TRUE(json.ok());
    const std::string text = json.value().text();
    EXPECT_NE(text.find("\"place\":\"memory\""), std::string::npos);
    EXPECT_NE(text.find("\"bad_event_id\":\"13\""), std::string::npos);
    EXPECT_NE(text.find("\"later\":[2,3]"), std::string::npos);
    EXPECT_NE(text.find("\"bytes_not_compared\":1000"), std::string::npos);
}

TEST(QuestionWords, name_bytes_of_a_file) {
    const auto range = file_range_in("/a/../b:10-20");
    ASSERT_TRUE(range.ok());
    EXPECT_EQ(range.value().path, "/b");
    EXPECT_EQ(range.value().begin, 10u);
    EXPECT_EQ(range.value().end, 20u);
    EXPECT_EQ(file_range_in("/b:7-").value().end, UINT64_MAX);
    EXPECT_EQ(file_range_in("/b:x").value().path, "/b:x");
    EXPECT_FALSE(file_range_in("/b:20-10").ok());
    EXPECT_EQ(number_in("0xff", "event").value(), 255u);
    EXPECT_FALSE(number_in("12x", "event").ok());
}

}  // namespace
}  // namespace dyetrace::apps
