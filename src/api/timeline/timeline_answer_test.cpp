#include "api/timeline/timeline_answer.h"

#include <gtest/gtest.h>

#include <cstring>

namespace dyetrace::api {
namespace {

using base::Json;

constexpr std::uint64_t kBegin = 1'700'000'000'000'000'000;

// A node, its process, two threads: #1 and #2 lie in one pixel of ten, #3 takes two.
Timeline two_threads() {
    Timeline timeline;
    timeline.revision = 7;
    timeline.begin_ns = kBegin;
    timeline.end_ns = kBegin + 1000;
    timeline.names = {"", "read"};
    timeline.hosts.push_back({.name = "db1", .ahead_min_ns = -5, .ahead_max_ns = 9});
    timeline.gaps.push_back({.host = 0,
                             .begin_ns = kBegin - 10,
                             .end_ns = kBegin + 20,
                             .lost = 12,
                             .reason = "ring_full"});
    TimelineIndex::Builder builder;
    const std::uint32_t node = builder.add_row(), process = builder.add_row(node);
    Lane first, second;
    first.add({.begin_ns = kBegin, .end_ns = kBegin + 10, .id = 1, .name = 1, .call_class = 1});
    first.add({.begin_ns = kBegin + 20, .end_ns = kBegin + 30, .id = 2, .call_class = 1});
    second.add({.begin_ns = kBegin + 500,
                .end_ns = kBegin + 700,
                .id = std::uint64_t{1} << 63,
                .name = 1,
                .call_class = 3,
                .waited = 1.0});
    first.finish();
    second.finish();
    builder.add_thread(process, std::move(first));
    builder.add_thread(process, std::move(second));
    timeline.index = std::move(builder).finish();
    timeline.rows = {{.kind = TimelineRowKind::kNode, .label = "db1"},
                     {.kind = TimelineRowKind::kProcess, .id = 70, .label = "cat[5]"},
                     {.kind = TimelineRowKind::kThread, .id = 71, .label = "cat[5]"},
                     {.kind = TimelineRowKind::kThread, .id = 72, .label = "cat[6]"}};
    return timeline;
}

Json question(const std::string& text) {
    return Json::parse(text).value();
}

std::string answered(const Timeline& timeline, const std::string& text) {
    const std::atomic<bool> cancelled = false;
    const Result<Answer> answer = timeline_answer(timeline, question(text), cancelled);
    return answer.ok() ? answer.value().body : "error: " + answer.error().text();
}

template <typename Number>
Number number_at(const std::string& bytes, std::size_t at) {
    Number number{};
    std::memcpy(&number, bytes.data() + at, sizeof(number));
    return number;
}

TEST(TimelineAnswer, says_what_rows_there_are_with_times_since_the_begin_of_the_trace) {
    const Json rows = Json::parse(timeline_rows_answer(two_threads()).body).value();
    EXPECT_EQ(
        rows.text(),
        R"({"revision":7,"is_recording":false,"begin_ns":"1700000000000000000",)"
        R"("span_ns":1000,"events":3,"names":["","read"],)"
        R"("hosts":[{"name":"db1","ahead_min_ns":"-5","ahead_max_ns":"9"}],)"
        R"("rows":{"parent":[-1,0,1,1],"kind":[0,1,2,2],"host":[0,0,0,0],)"
        R"("label":["db1","cat[5]","cat[5]","cat[6]"],"id":["0","70","71","72"],)"
        R"("threads":[2,2,1,1],"events":[3,3,2,1],"begin":[0,0,0,500],"end":[700,700,30,700]},)"
        R"("gaps":[{"host":0,"begin":-10,"end":20,"lost":12,"reason":"ring_full"}]})");
}

TEST(TimelineAnswer, gives_runs_as_arrays_in_the_order_of_the_rows_that_were_asked_for) {
    const std::string bytes =
        answered(two_threads(),
                 R"({"revision":7,"from":0,"to":1000,"width":10,"colour":"class","rows":[3,2]})");
    ASSERT_EQ(bytes.substr(0, 4), "DTTL");
    const std::uint32_t expected[] = {1, 7, 2, 2, 1, 3, 2, 1, 1};  // to runs_of_row
    for (std::size_t i = 0; i < std::size(expected); ++i) {
        EXPECT_EQ(number_at<std::uint32_t>(bytes, 4 + 4 * i), expected[i]) << i;
    }
    ASSERT_EQ(bytes.size(), 40u + 2 * 16 + 10);
    EXPECT_EQ(number_at<float>(bytes, 40), 5);
    EXPECT_EQ(number_at<float>(bytes, 44), 0);
    EXPECT_EQ(number_at<float>(bytes, 48), 7);
    EXPECT_EQ(number_at<float>(bytes, 52), 1);
    EXPECT_EQ(number_at<std::uint32_t>(bytes, 56), 1u);
    EXPECT_EQ(number_at<std::uint32_t>(bytes, 60), 2u);
    EXPECT_EQ(number_at<std::uint32_t>(bytes, 64), 3u | 12u << 4 | 255u << 8 | 255u << 16);
    EXPECT_EQ(number_at<std::uint8_t>(bytes, 68), 1 | 8 << 4);  // class
    EXPECT_EQ(number_at<std::uint8_t>(bytes, 69),
              8 * 255 / 32);  // a fifth, but work is always seen
    EXPECT_EQ(number_at<std::uint64_t>(bytes, 72), std::uint64_t{1} << 63);
    EXPECT_EQ(number_at<std::uint16_t>(bytes, 80), 1);
}

TEST(TimelineAnswer, of_another_revision_is_empty_and_says_which_it_is) {
    const std::string bytes =
        answered(two_threads(),
                 R"({"revision":6,"from":0,"to":1000,"width":10,"colour":"class","rows":[77]})");
    ASSERT_EQ(bytes.size(), 24u);
    EXPECT_EQ(number_at<std::uint32_t>(bytes, 8), 7u);
    EXPECT_EQ(number_at<std::uint32_t>(bytes, 12), 0u);
}

TEST(TimelineAnswer, refuses_what_makes_no_picture) {
    const Timeline timeline = two_threads();
    for (
        const char* wrong :
        {R"({"revision":7,"from":9,"to":9,"width":10,"colour":"class","rows":[]})",
         R"({"revision":7,"from":-1,"to":9,"width":10,"colour":"class","rows":[]})",
         R"({"revision":7,"from":0,"to":9,"width":0,"colour":"class","rows":[]})",
         R"({"revision":7,"from":0,"to":9,"width":9000,"colour":"class","rows":[]})",
         R"({"revision":7,"from":0,"to":9223372036854775808,"width":9,"colour":"class","rows":[]})",
         R"({"revision":7,"from":0,"to":9,"width":10,"colour":"taste","rows":[]})",
         R"({"revision":7,"from":0,"to":9,"width":10,"colour":"class","rows":[4]})",
         R"({"from":0,"to":9,"width":10,"colour":"class","rows":[]})"}) {
        EXPECT_TRUE(answered(timeline, wrong).starts_with("error: ")) << wrong;
    }
    std::string rows = "0";
    for (std::size_t i = 0; i < kRowsAskedMax; ++i) {
        rows += ",0";
    }
    EXPECT_TRUE(answered(timeline,
                         R"({"revision":7,"from":0,"to":9,"width":10,"colour":"class","rows":[)" +
                             rows + "]}")
                    .starts_with("error: "));
}

TEST(TimelineAnswer, is_not_made_for_nobody) {
    const std::atomic<bool> cancelled = true;
    const Result<Answer> answer = timeline_answer(
        two_threads(),
        question(R"({"revision":7,"from":0,"to":9,"width":9,"colour":"class","rows":[0]})"),
        cancelled);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code(), ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace dyetrace::api
