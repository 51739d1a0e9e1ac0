#include "api/query_answer.h"

#include <gtest/gtest.h>

#include "api/database_pool.h"
#include "trace/segment_fixture.h"

namespace dyetrace::api {
namespace {

using base::Json;

class QueryAnswerTest : public testing::Test {
  protected:
    void SetUp() override {
        trace_.write(trace::three_drains(4), {});
        database_ = store::Database::open(trace_.path(), {}).value();
    }

    Result<Json> ask(const std::string& sql, std::uint64_t rows_max = 1000) {
        TRY(const Answer answer,
            query_answer(
                *database_, Json::object().set("sql", sql).set("rows_max", rows_max), cancelled_));
        return Json::parse(answer.body);
    }

    trace::SegmentFixture trace_;
    std::unique_ptr<store::Database> database_;
    std::atomic<bool> cancelled_ = false;
};

TEST_F(QueryAnswerTest, gives_cells_as_what_they_are) {
    EXPECT_EQ(
        ask("SELECT 1::INTEGER AS i, 0.5 AS d, true AS b, NULL AS n, 'x<' AS t, [1, 2] AS l, "
            "9007199254740993::UBIGINT AS large")
            .value()
            .text(),
        R"({"columns":[{"name":"i","kind":"number"},{"name":"d","kind":"number"},{"name":"b","kind":"bool"},)"
        R"({"name":"n","kind":"number"},{"name":"t","kind":"text"},{"name":"l","kind":"nested"},{"name":"large","kind":"number"}],)"
        R"("rows":[[1,0.5,true,null,"x<","[1,2]","9007199254740993"]],"is_cut":false,"losses":""})");
}

TEST_F(QueryAnswerTest, keeps_the_least_of_64_bits) {
    EXPECT_EQ(ask("SELECT -9223372036854775808 AS n").value().items_at("rows")[0].items()[0].text(),
              R"("-9223372036854775808")");
}

TEST_F(QueryAnswerTest, keeps_the_most_of_64_bits) {
    EXPECT_EQ(ask("SELECT 18446744073709551615::UBIGINT AS n")
                  .value()
                  .items_at("rows")[0]
                  .items()[0]
                  .text(),
              R"("18446744073709551615")");
}

TEST_F(QueryAnswerTest, cuts_what_is_too_long_and_says_so) {
    const Json answer = ask("FROM range(10)", 3).value();
    EXPECT_EQ(answer.items_at("rows").size(), 3u);
    EXPECT_TRUE(answer.get<bool>("is_cut").value());
    EXPECT_FALSE(ask("FROM range(3)", 3).value().get<bool>("is_cut").value());
    EXPECT_TRUE(
        ask("SELECT repeat('x', 1000000) FROM range(100)").value().get<bool>("is_cut").value());
}

TEST_F(QueryAnswerTest, says_that_a_row_is_more_than_an_answer) {
    const Result<Json> answer = ask("SELECT 1, repeat('x', 40000000)");
    EXPECT_EQ(answer.error().code(), ErrorCode::kLimitReached);
    EXPECT_TRUE(answer.error().text().starts_with("a row of 40,000,009 bytes: "))
        << answer.error().text();
}

TEST_F(QueryAnswerTest, without_memory_fails_alone) {
    const auto open = [&] { return store::Database::open(trace_.path(), {}); };
    DatabasePool pool(open, 1, open);
    const Result<void> failed =
        pool.with(cancelled_, [](store::Database&) -> Result<void> { throw std::bad_alloc(); });
    EXPECT_EQ(failed.error().code(), ErrorCode::kLimitReached);
    std::atomic<bool> impatient = true;
    EXPECT_TRUE(pool.with(impatient, [](store::Database&) { return Result<void>(); }).ok())
        << "its database serves others";
}

TEST_F(QueryAnswerTest, says_what_is_wrong) {
    EXPECT_FALSE(ask("SELECT").ok());
    EXPECT_EQ(query_answer(*database_, Json::object(), cancelled_).error().text(),
              "'sql' is missing");
    cancelled_ = true;
    EXPECT_EQ(ask("SELECT count(*) FROM range(100000000) a, range(1000) b").error().code(),
              ErrorCode::kInterrupted);
}

using Opened = Result<std::unique_ptr<store::Database>>;

TEST_F(QueryAnswerTest, of_several_at_once_wait_for_a_database) {
    std::atomic<int> opened = 0;
    const auto open = [&]() -> Opened {
        ++opened;
        return store::Database::open(trace_.path(), {});
    };
    DatabasePool pool(open, 1, open);
    EXPECT_TRUE(pool.with(cancelled_,
                          [&](store::Database&) -> Result<void> {
                              std::atomic<bool> impatient = true;
                              EXPECT_EQ(pool.with(impatient,
                                                  [](store::Database&) { return Result<void>(); })
                                            .error()
                                            .code(),
                                        ErrorCode::kInterrupted);
                              return {};
                          })
                    .ok());
    EXPECT_TRUE(pool.with(cancelled_, [](store::Database&) { return Result<void>(); }).ok());
    EXPECT_EQ(opened, 1);
}

TEST_F(QueryAnswerTest, that_needs_more_memory_is_made_from_a_larger_database) {
    int larger_opened = 0;
    const auto open = [&](const char* memory) -> Opened {
        return store::Database::open(
            trace_.path(), {.threads = 1, .memory_limit = memory, .temporary_limit = "1MB"});
    };
    std::string larger_memory = "1GB";
    DatabasePool pool([&] { return open("60MB"); },
                      1,
                      [&] {
                          ++larger_opened;
                          return open(larger_memory.c_str());
                      });
    const auto ask_pool = [&](const char* sql) -> Result<std::string> {
        std::string body;
        TRY(pool.with(cancelled_, [&](store::Database& database) -> Result<void> {
            TRY(const Answer answer,
                query_answer(database, Json::object().set("sql", sql), cancelled_));
            body = answer.body;
            return {};
        }));
        return body;
    };
    const char* const large =
        "SELECT count(*) FROM (SELECT DISTINCT hash(i) FROM range(4000000) t(i))";
    EXPECT_NE(ask_pool(large).value().find("[[4000000]]"), std::string::npos);
    EXPECT_EQ(larger_opened, 1);
    EXPECT_TRUE(ask_pool("SELECT 1").ok());  // the usual one serves on
    EXPECT_EQ(ask_pool("SELECT no_column").error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(larger_opened, 1);
    larger_memory = "60MB";  // it was closed, so another is opened, which says what is missing
    const Result<std::string> refused = ask_pool(large);
    EXPECT_EQ(refused.error().code(), ErrorCode::kOutOfMemory);
    EXPECT_NE(refused.error().text().find("Out of Memory"), std::string::npos);
    EXPECT_EQ(larger_opened, 2);
    const Result<void> too_many = pool.with(cancelled_, [](store::Database&) -> Result<void> {
        return Error(ErrorCode::kLimitReached, "more rows than an answer has");
    });
    EXPECT_EQ(too_many.error().code(), ErrorCode::kLimitReached);
    EXPECT_EQ(larger_opened, 2) << "more memory would not help";
}

}  // namespace
}  // namespace dyetrace::api
