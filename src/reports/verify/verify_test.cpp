#include <fmt/format.h>
#include <gtest/gtest.h>

#include <span>

#include "analysis/verify/copy_cases.h"
#include "base/json.h"
#include "base/random_bytes.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "reports/question_arguments.h"
#include "reports/verify/verify_answer.h"
#include "reports/verify/verify_payload.h"
#include "trace/payload_file.h"
#include "trace/trace_folder.h"

namespace dyetrace::reports {
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
    answer.changed_bytes.resize(1);
    return answer;
}

analysis::ByteDifference place(std::uint64_t begin, std::string_view was, std::string_view is) {
    const auto bytes_of = [](std::string_view text) {
        const auto bytes = std::as_bytes(std::span(text));
        return std::vector<std::byte>(bytes.begin(), bytes.end());
    };
    return {begin, begin + was.size(), begin, begin + is.size(), bytes_of(was), bytes_of(is)};
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
              "Which byte it was only a record --content=bytes shows.\n"
              "3 copies · 14,000 bytes compared, 1,000 could not be\n"
              "1 change · no gaps in this time\n");
}

TEST(VerifyText, has_words_for_every_place) {
    Change change = change_in_memory();
    const auto said = [&](Place place) {
        change.place = place;
        const std::string text = verify_text(answer_with(change), {});
        const std::size_t at = text.find("bytes)\n") + 7;
        return text.substr(at, text.find('\n', at) - at);
    };
    EXPECT_EQ(said(Place::kFile),
              "  in the file: its page cache, its disk, or a writer that was not seen");
    EXPECT_EQ(said(Place::kNetwork), "  on the network");
    EXPECT_EQ(said(Place::kPipe), "  in the pipe or socket");
    EXPECT_EQ(said(Place::kBetween), "  between these two");
    change.bad = 2;
    EXPECT_EQ(said(Place::kMemory), "  in the memory of cat[1] or nc[2], which it made");
}

TEST(VerifyText, says_who_put_other_bytes_there_and_that_it_is_no_change) {
    VerifyAnswer answer = answer_with(change_in_memory());
    Change replaced = change_in_memory();
    replaced.replaced_by = 20;
    answer.verdict.changes.clear();
    answer.verdict.open_bytes = 0;
    answer.changed_bytes.clear();
    answer.verdict.replaced = {replaced};
    answer.replacers = {{.who = "vi[7]", .name = "write", .what = "/a", .first_event = 20}};
    EXPECT_EQ(verify_text(answer, {}),
              "/a · are its copies the same?\n"
              "reference  cat[1] read /a 0–5,000\n"
              "replaced   vi[7] write /a 1,000–2,500\n"
              "There other bytes were put, by calls that are known: a new version.\n"
              "3 copies · 14,000 bytes compared, 1,000 could not be\n"
              "no change · no gaps in this time\n");
    EXPECT_NE(verify_json(answer).find("\"verdict\":\"replaced\""), std::string::npos);
    answer.verdict.replaced.push_back(replaced);
    answer.replacers.push_back(answer.replacers.front());
    EXPECT_NE(verify_text(answer, {}).find("replaced   vi[7] write /a 2 places, 3,000 bytes\n"),
              std::string::npos);
    for (int i = 0; i < 7; ++i) {
        answer.verdict.replaced.push_back(replaced);
        answer.replacers.push_back(
            {.who = fmt::format("cp[{}]", i), .name = "write", .what = "/a"});
    }
    EXPECT_NE(verify_text(answer, {}).find("… 3 more; --json has them\n"), std::string::npos);
}

TEST(VerifyText, says_which_copies_end_early) {
    VerifyAnswer answer = answer_with(change_in_memory());
    answer.verdict.changes.clear();
    answer.changed_bytes.clear();
    answer.copies[3].what = "/b";
    answer.copies[3].end = 3000;
    answer.verdict.shorter = {{0, 3, 3000, 5000}};
    EXPECT_EQ(verify_text(answer, {}),
              "/a · are its copies the same?\n"
              "reference  cat[1] read /a 0–5,000\n"
              "shorter    nc[2] write /b 0–3,000, by 2,000 bytes\n"
              "3 copies · 14,000 bytes compared, 1,000 could not be\n"
              "no change in what could be compared, which is not all · no gaps in this time\n");
    EXPECT_NE(verify_json(answer).find(
                  "\"shorter\":[{\"reference\":0,\"begin\":3000,\"end\":5000,\"copy\":3}]"),
              std::string::npos);
    answer.verdict.shorter.resize(7, {0, 3, 3000, 5000});
    EXPECT_NE(verify_text(answer, {}).find("\n… 2 more; --json has them\n"), std::string::npos);
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

class ChangedBytesTest : public ::testing::Test {
  protected:
    // The lines between the piece and the process.
    std::string said(const ChangedBytes& bytes) {
        VerifyAnswer answer = answer_with(change_in_memory());
        answer.changed_bytes = {bytes};
        const std::string text = verify_text(answer, {});
        EXPECT_EQ(text.find("--content=bytes"), std::string::npos);
        const std::size_t at = text.find("bytes)\n") + 7;
        return text.substr(at, text.find("  in the memory") - at);
    }
    base::Json json_of(const ChangedBytes& bytes) {
        VerifyAnswer answer = answer_with(change_in_memory());
        answer.changed_bytes = {bytes};
        const auto json = base::Json::parse(verify_json(answer));
        return json.value().items_at("changes").front();
    }
};

TEST_F(ChangedBytesTest, are_told_with_what_they_were) {
    ChangedBytes bytes{.known = BytesKnown::kAll};
    bytes.differences.places = {place(1003, "a", "b")};
    EXPECT_EQ(said(bytes), "  exactly    byte 1,003: 61 → 62\n");
    bytes.differences.places = {place(1003, "abc", "xyz")};
    EXPECT_EQ(said(bytes), "  exactly    bytes 1,003–1,006: 616263 → 78797a\n");
    bytes.differences.places = {place(1003, "", "b")};
    EXPECT_EQ(said(bytes), "  exactly    before 1,003: nothing → 62\n");
    bytes.differences.places = {place(1003, "a", "")};
    EXPECT_EQ(said(bytes), "  exactly    byte 1,003: 61 → nothing\n");
}

TEST_F(ChangedBytesTest, are_told_as_far_as_they_fit_and_counted) {
    ChangedBytes bytes{.known = BytesKnown::kAll};
    bytes.differences.places.assign(5, place(1003, "123456789", "abcdefghi"));
    bytes.differences.places_left_out = 2;
    bytes.differences.old_bytes = bytes.differences.new_bytes = 63;
    const std::string one = "bytes 1,003–1,012: 3132333435363738… → 6162636465666768…\n";
    const std::string indent(13, ' ');
    EXPECT_EQ(said(bytes),
              "  exactly    " + one + indent + one + indent + one + indent +
                  "… 63 bytes in 7 places in all; --json has more\n");
}

TEST_F(ChangedBytesTest, that_are_not_known_are_said_to_be_so_and_why) {
    const struct {
        BytesKnown known;
        const char *text, *reason;
    } cases[] = {
        {BytesKnown::kNotKept, "not known: of this piece 1,234 bytes were not kept", "not_kept"},
        {BytesKnown::kNotTheSame,
         "not known: bytes changed while they were recorded",
         "not_the_same"},
        {BytesKnown::kTooLong, "not told: the piece is too long", "too_long"},
    };
    for (const auto& one : cases) {
        const ChangedBytes bytes{.known = one.known, .missing = 1234};
        EXPECT_EQ(said(bytes), fmt::format("  exactly    {}\n", one.text));
        EXPECT_EQ(json_of(bytes).get<std::string>("bytes_unknown_because").value(), one.reason);
        EXPECT_TRUE(json_of(bytes).find("places")->is_null());
    }
}

TEST_F(ChangedBytesTest, are_hexadecimal_in_json) {
    ChangedBytes bytes{.known = BytesKnown::kAll};
    bytes.differences.places = {place(1003, "a", "b\n")};
    bytes.differences.new_bytes = 2;
    const base::Json json = json_of(bytes);
    EXPECT_TRUE(json.find("bytes_unknown_because")->is_null());
    EXPECT_EQ(json.get<std::uint64_t>("new_bytes").value(), 2u);
    EXPECT_EQ(
        json.items_at("places").front().text(),
        R"({"begin":1003,"end":1004,"bad_begin":1003,"bad_end":1005,"old":"61","new":"620a"})");
}

// A trace with payload of what was read in calls of 70 bytes and written in calls of 100, where a byte was flipped.
class KeptPayloadTest : public ::testing::Test {
  protected:
    static constexpr std::size_t kBytes = 3000, kFlipped = 1234;

    KeptPayloadTest() {
        changed_[kFlipped] = static_cast<char>(changed_[kFlipped] ^ 1);
        copies_.push_back({.strip = moved_.strip(content_, {70})});
        copies_.push_back({.strip = moved_.strip(changed_, {100}, 50'000)});
        change_.bad = 1;
        change_.stretch = {0, kBytes, 50'000, 50'000 + kBytes, Outcome::kChanged};
    }

    // Bytes of a copy as they are kept, in pieces of 64; those of the event `without` are not.
    void keep(trace::PayloadWriter& writer,
              const analysis::Copy& copy,
              const std::string& bytes,
              std::uint64_t without) {
        for (const analysis::MovedPiece& piece : copy.strip.pieces()) {
            const auto all = std::as_bytes(std::span(bytes))
                                 .subspan(piece.position - copy.strip.begin(), piece.bytes);
            for (std::size_t at = 0; at < all.size() && piece.event != without; at += 64) {
                const auto part = all.subspan(at, std::min<std::size_t>(64, all.size() - at));
                EXPECT_TRUE(writer.add(0, piece.event, at, part).ok());
            }
        }
    }
    ChangedBytes read(const std::string& kept_of_copy, std::uint64_t without = 0) {
        const auto folder = base::TemporaryFolder::make();
        const std::string path = folder.value().path() + "/trace";
        trace::TraceInfo info;
        info.hosts.emplace_back();
        EXPECT_TRUE(trace::TraceFolder::create(path, info).ok());
        auto writer = trace::PayloadWriter::create(path);
        keep(writer.value(), copies_[0], content_, without);
        keep(writer.value(), copies_[1], kept_of_copy, without);
        EXPECT_TRUE(writer.value().close({}).ok());
        return changed_bytes(path, copies_, {change_}).value().front();
    }

    analysis::Moved moved_;
    const std::string content_ = base::random_bytes(kBytes, 8);
    std::string changed_ = content_;
    std::vector<analysis::Copy> copies_;
    Change change_;
};

TEST_F(KeptPayloadTest, of_both_copies_tells_the_byte) {
    const ChangedBytes bytes = read(changed_);
    ASSERT_EQ(bytes.known, BytesKnown::kAll);
    ASSERT_EQ(bytes.differences.places.size(), 1u);
    EXPECT_EQ(bytes.differences.places[0].begin, kFlipped);
    EXPECT_EQ(bytes.differences.places[0].copy_begin, 50'000 + kFlipped);
}

TEST_F(KeptPayloadTest, that_is_not_whole_tells_how_many_bytes_are_missing) {
    const std::uint64_t first = copies_[0].strip.pieces()[3].event;
    const ChangedBytes bytes = read(changed_, first);
    EXPECT_EQ(bytes.known, BytesKnown::kNotKept);
    EXPECT_EQ(bytes.missing, 70u);
}

TEST_F(KeptPayloadTest, that_is_not_what_moved_tells_nothing) {
    EXPECT_EQ(read(content_).known, BytesKnown::kNotTheSame);
}

TEST_F(KeptPayloadTest, of_a_piece_that_is_too_long_is_not_read) {
    analysis::MovedPiece long_call;
    long_call.bytes = kPieceBytesMax + 1;
    copies_.push_back({.strip = analysis::Strip(std::vector{long_call})});
    change_.bad = 2;
    change_.stretch = {0, kBytes, 0, kPieceBytesMax + 1, Outcome::kResized};
    EXPECT_EQ(read(changed_).known, BytesKnown::kTooLong);
}

TEST_F(KeptPayloadTest, that_nobody_kept_is_none) {
    const auto folder = base::TemporaryFolder::make();
    const auto bytes = changed_bytes(folder.value().path(), copies_, {change_});
    EXPECT_EQ(bytes.value().front().known, BytesKnown::kNoPayload);
}

TEST(VerifyText, stays_within_the_line_and_tells_a_screen_of_changes) {
    Change change = change_in_memory();
    change.bad = 3;
    VerifyAnswer answer = answer_with(change);
    answer.verdict.changes.assign(kChangesTold + 5, change);
    answer.changed_bytes.resize(kChangesTold + 5);
    const std::string text = verify_text(answer, {});
    EXPECT_NE(text.find("… 5 more changes"), std::string::npos);
    std::size_t lines = 0;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1, ++lines) {
        EXPECT_LE(base::display_width(text.substr(at, text.find('\n', at) - at)), 80u);
    }
    EXPECT_EQ(lines, 2 + kChangesTold * 7 + 5);
}

TEST(VerifyText, of_what_nobody_passed_on_says_so) {
    VerifyAnswer answer;
    answer.question = "/a";
    EXPECT_EQ(verify_text(answer, {}),
              "/a · are its copies the same?\n"
              "nothing has the same bytes as far as this was recorded\n"
              "0 copies · 0 bytes compared, 0 could not be\n"
              "no change in what could be compared, which is not all · no gaps in this time\n");
}

TEST(VerifyJson, has_numbers_and_ids) {
    const auto json = base::Json::parse(verify_json(answer_with(change_in_memory())));
    ASSERT_TRUE(json.ok());
    const std::string text = json.value().text();
    EXPECT_NE(text.find("\"place\":\"memory\""), std::string::npos);
    EXPECT_NE(text.find("\"bad_event_id\":\"13\""), std::string::npos);
    EXPECT_NE(text.find("\"later\":[2,3]"), std::string::npos);
    EXPECT_NE(text.find("\"bytes_unknown_because\":\"no_payload\""), std::string::npos);
    EXPECT_NE(text.find("\"bytes_not_compared\":1000"), std::string::npos);
}

TEST(QuestionText, name_bytes_of_a_file) {
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
    EXPECT_FALSE(number_in("-1", "event").ok());
    EXPECT_EQ(fingerprint_in("-1").value(), UINT64_MAX);
    EXPECT_EQ(fingerprint_in("0xff").value(), 255u);
    EXPECT_FALSE(fingerprint_in("-1x").ok());
}

}  // namespace
}  // namespace dyetrace::reports
