#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace dyetrace {
namespace {

Result<int> parse_digit(char c) {
    if (c < '0' || c > '9') return Error(ErrorCode::kInvalidArgument, "not a digit");
    return c - '0';
}

Result<void> require_even(int number) {
    if (number % 2 != 0) return Error(ErrorCode::kUnsupported, "odd");
    return {};
}

Result<int> sum_of_even_digits(char a, char b) {
    TRY(int first, parse_digit(a));
    TRY(const int second, parse_digit(b));
    TRY(require_even(first));
    TRY(require_even(second));
    return first + second;
}

TEST(Result, carries_a_value_through_try) {
    EXPECT_EQ(sum_of_even_digits('2', '4').value(), 6);
}

TEST(Result, try_returns_the_first_error) {
    EXPECT_EQ(sum_of_even_digits('x', '3').error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(sum_of_even_digits('2', '3').error().code(), ErrorCode::kUnsupported);
}

TEST(Result, try_is_one_statement_under_an_if_without_braces) {
    const auto odd_only_if = [](bool wanted) -> Result<void> {
        if (wanted)
            TRY(require_even(3));
        else
            return Error(ErrorCode::kIo, "else belongs to the outer if");
        return {};
    };
    EXPECT_EQ(odd_only_if(true).error().code(), ErrorCode::kUnsupported);
    EXPECT_EQ(odd_only_if(false).error().code(), ErrorCode::kIo);
}

TEST(Result, moves_a_value_that_cannot_be_copied) {
    const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(7); };
    const auto pass_on = [&]() -> Result<int> {
        TRY(std::unique_ptr<int> box, make());
        return *box;
    };
    EXPECT_EQ(pass_on().value(), 7);
}

TEST(Result, value_or_replaces_an_error) {
    EXPECT_EQ(parse_digit('5').value_or(-1), 5);
    EXPECT_EQ(parse_digit('x').value_or(-1), -1);
}

TEST(Result, context_keeps_the_code_and_reads_from_the_outside_in) {
    const Result<int> result = parse_digit('x').with_context("line 3").with_context("file 'a'");
    EXPECT_EQ(result.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(result.error().text(), "file 'a': line 3: not a digit");
    EXPECT_EQ(result.error().cause()->message(), "line 3");
    EXPECT_EQ(parse_digit('4').with_context("line 4").value(), 4);
    EXPECT_TRUE(require_even(2).with_context("fine").ok());
}

TEST(Error, is_made_of_errno_with_its_name) {
    const Error error = Error::from_errno(ENOENT, "opening 'x'");
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    EXPECT_EQ(error.text(), "opening 'x': No such file or directory (ENOENT)");
    EXPECT_EQ(Error::from_errno(99999, "x").text(), "x: unknown error (99999)");
}

TEST(Error, copies_with_all_its_causes) {
    const Error error = Error(ErrorCode::kIo, "disk").with_context("file");
    const std::vector<Error> copies(2, error);
    EXPECT_EQ(copies[1].text(), error.text());
    EXPECT_NE(copies[1].cause(), error.cause());
}

TEST(ResultDeathTest, the_value_of_a_failed_result_aborts_with_the_error) {
    EXPECT_DEATH(parse_digit('x').value(), "not a digit");
    EXPECT_DEATH(require_even(1).value(), "odd");
    EXPECT_DEATH((void)parse_digit('1').error(), "a good Result has no error");
}

}  // namespace
}  // namespace dyetrace
