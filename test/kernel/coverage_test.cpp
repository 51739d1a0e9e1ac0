// Whether some test of this folder shows every decoded call: as a row, or by asking a trace for its event.
//
//   a row in a table          pread64 file =3 fd=3 …      i386 _llseek file =0 …
//   a question to a trace     trace.only("execve")
//
// The sources are read, because a test program that ctest starts for one test cannot know of the others.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "kernel/rows.h"
#include "schema/syscalls.h"

namespace dyetrace::test {
namespace {

std::string text_of_tests() {
    std::string text;
    for (const auto& file : std::filesystem::directory_iterator(KERNEL_TEST_FOLDER)) {
        if (file.path().string().ends_with("_test.cpp")) {
            std::ifstream in(file.path());
            text.append(std::istreambuf_iterator<char>(in), {});
        }
    }
    return text;
}

std::set<std::string> found(const std::string& text, const std::string& pattern) {
    std::set<std::string> names;
    const std::regex regex(pattern);
    for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) {
        names.insert((*at)[1]);
    }
    return names;
}

const std::string kRowEnd = R"(([a-z0-9_]+) [a-z]+ (?:=|unfinished))";

bool decoded_elsewhere(std::string_view name) {
    for (const schema::SyscallInfo& call : schema::syscalls_of(schema::Abi::kX8664)) {
        if (call.name == name && call.decoded) {
            return true;
        }
    }
    return false;
}

TEST(Coverage, every_decoded_call_is_made_by_a_test) {
    const std::string text = text_of_tests();
    const std::set<std::string> rows = found(text, "\n +(?:p[0-9]+ )?" + kRowEnd);
    const std::set<std::string> asked =
        found(text, R"re((?:only|first|last|nth|all)\("([a-z0-9_]+)")re");
    for (const schema::SyscallInfo& call : schema::syscalls_of(schema::Abi::kX8664)) {
        const std::string name(call.name);
        EXPECT_TRUE(!call.decoded || rows.contains(name) || asked.contains(name)) << name;
    }
}

TEST(Coverage, every_call_that_only_32_bit_programs_have_is_made_by_a_test) {
    const std::set<std::string> rows = found(text_of_tests(), "\n +(?:p[0-9]+ )?i386 " + kRowEnd);
    for (const schema::SyscallInfo& call : schema::syscalls_of(schema::Abi::kI386)) {
        const std::string name(call.name);
        EXPECT_TRUE(!call.decoded || decoded_elsewhere(name) || rows.contains(name)) << name;
    }
}

}  // namespace
}  // namespace dyetrace::test
