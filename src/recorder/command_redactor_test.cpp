#include "recorder/command_redactor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "schema/record_builder.h"

namespace dyetrace::recorder {
namespace {

using schema::Attachment;

CommandRedactor redactor(const std::string& secret) {
    return CommandRedactor(capture::Secrets::parse({secret}).value());
}

std::string kept(CommandRedactor& redactor, std::string_view command, bool is_cut = false) {
    schema::TaskContext task{};
    task.flags = is_cut ? 2 : 0;
    const auto other = schema::build(schema::TaskContext{}, {{Attachment::kExe, "/bin/secret"}});
    const auto record =
        schema::build(task, {{Attachment::kExe, "/bin/secret"}, {Attachment::kCommand, command}});
    std::vector<std::byte> facts(other.bytes().begin(), other.bytes().end());
    facts.insert(facts.end(), record.bytes().begin(), record.bytes().end());
    const auto hidden = redactor.apply(facts);
    EXPECT_EQ(hidden.size(), facts.size());
    const auto* const second =
        schema::as<schema::TaskContext>(hidden.subspan(other.bytes().size()));
    EXPECT_EQ(schema::attachment(*second, Attachment::kExe), "/bin/secret");
    return std::string(schema::attachment(*second, Attachment::kCommand).value_or("none"));
}

std::string words(std::string text) {
    std::replace(text.begin(), text.end(), ' ', '\0');
    return text;
}

TEST(CommandRedactor, hides_each_byte_of_a_match_and_nothing_else) {
    CommandRedactor secret = redactor("secret");
    EXPECT_EQ(kept(secret, words("mysql -psecret shop secret")),
              words("mysql -p****** shop ******"));
    EXPECT_EQ(kept(secret, words("mysql shop")), words("mysql shop"));
    EXPECT_EQ(kept(secret, ""), "");
}

TEST(CommandRedactor, takes_the_end_of_an_argument_for_a_space) {
    CommandRedactor secret = redactor("re:--password \\S+");
    EXPECT_EQ(kept(secret, words("curl --password abc x")), words("curl ********** *** x"));
}

TEST(CommandRedactor, hides_what_could_begin_a_secret_where_the_line_is_cut) {
    CommandRedactor secret = redactor("secret");
    EXPECT_EQ(kept(secret, words("mysql -psec"), true), words("mysql -p***"));
    EXPECT_EQ(kept(secret, words("mysql -psec"), false), words("mysql -psec"));
}

TEST(CommandRedactor, hides_in_words_that_are_not_parted_yet) {
    const std::vector<std::string> shown =
        redactor("re:--password \\S+").hidden({"curl", "--password", "abc", ""});
    EXPECT_EQ(shown, std::vector<std::string>({"curl", "**********", "***", ""}));
}

TEST(CommandRedactor, leaves_all_as_it_is_without_a_secret) {
    CommandRedactor none{capture::Secrets()};
    EXPECT_TRUE(none.is_idle());
    EXPECT_EQ(kept(none, words("mysql -psecret")), words("mysql -psecret"));
}

}  // namespace
}  // namespace dyetrace::recorder
