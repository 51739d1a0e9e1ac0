// Numbers of each type as rows and as scans give them.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "store/store_fixture.h"

namespace dyetrace::store {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::uint64_t kHighest = std::numeric_limits<std::uint64_t>::max();

class TypedRows : public testing::Test {
  protected:
    TypedRows() { trace_.record(1, 100); }

    // What `take` says of the one cell that the statement gives.
    template <typename Answer>
    Answer of_cell(const std::string& sql, Answer (*take)(const Cell&)) {
        Answer answer{};
        database_
            ->query("SELECT " + sql,
                    [&](Rows& rows) -> Result<void> {
                        TRY(const std::span<const Cell> row, rows.next());
                        answer = take(row[0]);
                        return {};
                    })
            .value();
        return answer;
    }
    std::optional<std::uint64_t> unsigned_number(const std::string& sql) {
        return of_cell<std::optional<std::uint64_t>>(
            sql, [](const Cell& cell) { return cell.unsigned_number(); });
    }
    std::optional<std::int64_t> signed_number(const std::string& sql) {
        return of_cell<std::optional<std::int64_t>>(
            sql, [](const Cell& cell) { return cell.signed_number(); });
    }
    std::optional<double> number(const std::string& sql) {
        return of_cell<std::optional<double>>(sql, [](const Cell& cell) { return cell.number(); });
    }

    StoreFixture trace_;
    std::unique_ptr<Database> database_ = trace_.database();
};

TEST_F(TypedRows, have_whole_numbers_of_any_width) {
    EXPECT_EQ(unsigned_number("18446744073709551615::UBIGINT"), kHighest);
    EXPECT_EQ(unsigned_number("18446744073709551615::HUGEINT"), kHighest);
    EXPECT_EQ(unsigned_number("200::UTINYINT"), 200u);
    EXPECT_EQ(unsigned_number("sum(7::UBIGINT)"), 7u);
    EXPECT_EQ(signed_number("(-9223372036854775807 - 1)::BIGINT"), kLowest);
    EXPECT_EQ(signed_number("(-9223372036854775807 - 1)::HUGEINT"), kLowest);
    EXPECT_EQ(signed_number("(-5)::TINYINT"), -5);
    EXPECT_EQ(signed_number("5::UINTEGER"), 5);
}

TEST_F(TypedRows, have_none_for_what_does_not_fit) {
    EXPECT_EQ(unsigned_number("-1"), std::nullopt);
    EXPECT_EQ(unsigned_number("18446744073709551616::HUGEINT"), std::nullopt);
    EXPECT_EQ(signed_number("9223372036854775808::UBIGINT"), std::nullopt);
    EXPECT_EQ(signed_number("(-9223372036854775808)::HUGEINT - 1"), std::nullopt);
    EXPECT_EQ(signed_number("'nan'::DOUBLE"), std::nullopt);
    EXPECT_EQ(unsigned_number("1e30::DOUBLE"), std::nullopt);
}

TEST_F(TypedRows, have_none_for_null_and_text_for_all) {
    for (const char* type : {"BIGINT", "UBIGINT", "DOUBLE", "BOOLEAN", "VARCHAR"}) {
        const std::string sql = std::string("NULL::") + type;
        EXPECT_EQ(unsigned_number(sql), std::nullopt) << type;
        EXPECT_EQ(signed_number(sql), std::nullopt) << type;
        EXPECT_EQ(number(sql), std::nullopt) << type;
    }
    EXPECT_EQ(of_cell<std::string>("-7", [](const Cell& cell) { return std::string(cell.text); }),
              "-7");
}

TEST_F(TypedRows, have_numbers_with_a_point) {
    EXPECT_EQ(number("0.1::DOUBLE"), 0.1);
    EXPECT_EQ(number("1.5::FLOAT"), 1.5);
    EXPECT_EQ(number("(-12.25)::DECIMAL(18, 2)"), -12.25);
    EXPECT_EQ(number("(-3)::BIGINT"), -3.0);
    EXPECT_EQ(signed_number("-2.75::DOUBLE"), -2);
    EXPECT_EQ(unsigned_number("2.75::DECIMAL(4, 2)"), 2u);
}

TEST_F(TypedRows, have_what_is_true) {
    const auto is_true = [](const Cell& cell) { return cell.is_true(); };
    EXPECT_TRUE(of_cell<bool>("1 < 2", is_true));
    EXPECT_FALSE(of_cell<bool>("1 > 2", is_true));
    EXPECT_FALSE(of_cell<bool>("NULL::BOOLEAN", is_true));
    EXPECT_FALSE(of_cell<bool>("'true'", is_true));
}

// More rows than a batch has, so that each batch has a validity of its own.
TEST_F(TypedRows, are_scanned_with_their_types_and_nulls) {
    constexpr std::size_t kRows = 10'000;
    NumberScan scan =
        database_
            ->scan_numbers(
                "SELECT i::UBIGINT, CASE WHEN i % 3 = 0 THEN NULL ELSE i END::UBIGINT, "
                "(5 - i)::BIGINT, CASE WHEN i % 2 = 0 THEN i / 2.0 END::DOUBLE, "
                "CASE WHEN i > 9000 THEN -i END::BIGINT FROM range(10000) r(i)")
            .value();
    std::size_t seen = 0;
    for (;;) {
        const NumberBatch* const batch = scan.next().value();
        if (batch->rows == 0) {
            break;
        }
        const NumberColumns& columns = batch->columns;
        for (std::size_t row = 0; row < batch->rows; ++row, ++seen) {
            const std::uint64_t i = columns[0][row];
            const auto as_signed = static_cast<std::int64_t>(i);
            ASSERT_EQ(columns[1].optional(row), i % 3 == 0 ? std::nullopt : std::optional(i));
            ASSERT_EQ(columns[1].value_or(row, kHighest), i % 3 == 0 ? kHighest : i);
            ASSERT_EQ(columns[2].get<std::int64_t>(row), 5 - as_signed);
            ASSERT_EQ(columns[3].optional<double>(row),
                      i % 2 == 0 ? std::optional(static_cast<double>(i) / 2) : std::nullopt);
            ASSERT_EQ(columns[4].is_null(row), i <= 9000);
            ASSERT_EQ(columns[4].value_or(row, std::int64_t{1}), i > 9000 ? -as_signed : 1);
        }
    }
    EXPECT_EQ(seen, kRows);
}

// A scan has a connection of its own: what is set for it is set for all.
TEST_F(TypedRows, are_joined_by_time_without_comparing_all_with_all) {
    NumberScan scan =
        database_->scan_numbers("SELECT current_setting('asof_loop_join_threshold')::UBIGINT")
            .value();
    EXPECT_EQ(scan.next().value()->columns[0][0], 0u);
}

TEST_F(TypedRows, are_not_scanned_where_they_are_no_numbers) {
    const auto scan = database_->scan_numbers("SELECT 1::UBIGINT AS a, 'x' AS b");
    ASSERT_FALSE(scan.ok());
    EXPECT_NE(scan.error().text().find("column b"), std::string::npos) << scan.error().text();
}

}  // namespace
}  // namespace dyetrace::store
