#include "probes/function_types.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "base/file.h"
#include "base/random_bytes.h"
#include "base/sanitized.h"
#include "base/temporary_folder.h"
#include "probes/elf_fixture.h"
#include "probes/samples_folder.h"

namespace dyetrace::probes {
namespace {

std::string said(const ProbeValue& value) {
    std::string text =
        value.start == ValueStart::kResult ? "result" : fmt::format("{}", value.number);
    for (const std::int64_t hop : value.hops) text += fmt::format(" +{}", hop);
    if (value.bits != 0) text += fmt::format(" bits {}+{}", value.bit_offset, value.bits);
    if (value.form == ValueForm::kText) text += " text";
    if (value.form == ValueForm::kTextArray) text += " letters";
    if (value.form != ValueForm::kText)
        text += fmt::format(" {}{}", value.is_signed ? "i" : "u", value.bytes);
    EXPECT_EQ(value.is_in_user_memory, !value.hops.empty() || value.form == ValueForm::kText);
    return text + " " + value.type;
}

std::string said(const Result<ProbeValue>& value) {
    return value.ok() ? said(value.value()) : value.error().text();
}

// One program with its functions and their types.
struct Sample {
    explicit Sample(const std::string& name)
        : path(std::string(kSamplesFolder) + "/" + name),
          functions(ProgramFunctions::open(path, kNoDebugFolder).value()),
          types(FunctionTypes::open(path, kNoDebugFolder).value()) {}

    ProgramFunction function(const std::string& name) const {
        return functions.matching(name).value().at(0);
    }

    std::string signature(const std::string& name) const {
        const auto signature = types.signature(function(name));
        if (!signature.ok()) return signature.error().text();
        std::string text;
        for (const NamedValue& each : signature.value().arguments)
            text += each.name + ": " + said(each.value) + "\n";
        if (signature.value().result) text += said(*signature.value().result) + "\n";
        for (const LeftOutValue& each : signature.value().left_out)
            text += each.name + " refused: " + each.reason + "\n";
        return text;
    }
    std::string argument(const std::string& name, std::string_view path_of_it) const {
        return said(types.argument(function(name), path_of_it));
    }

    std::string path;
    ProgramFunctions functions;
    FunctionTypes types;
};

TEST(FunctionTypes, names_arguments_and_result_with_their_types) {
    const Sample sample("c_sample");
    EXPECT_EQ(sample.signature("read_request"),
              "request: 0 u8 const struct request *\n"
              "why: 1 text const char *\n"
              "flags: 2 u1 uint8_t\n"
              "delta: 3 i2 int16_t\n"
              "result i4 int32_t\n");
    EXPECT_EQ(sample.signature("nothing"), "");
    EXPECT_EQ(sample.signature("name_of"),
              "client: 0 u8 const struct client *\nresult text const char *\n");
}

TEST(FunctionTypes, numbers_of_floating_point_take_no_register_of_arguments) {
    EXPECT_EQ(Sample("c_sample").signature("mixed"),
              "count: 0 i8 int64_t\n"
              "color: 1 u4 enum color\n"
              "place: 2 u8 void *\n"
              "factor refused: it is a number of floating point\n"
              "small refused: it is a number of floating point\n"
              "result refused: it is a number of floating point (double)\n");
}

TEST(FunctionTypes, structures_take_as_many_registers_as_the_machine_says) {
    const Sample sample("c_sample");
    const bool is_x86 = kThisMachine == Machine::kX86_64;
    EXPECT_EQ(sample.argument("by_value", "after"), is_x86 ? "2 i8 int64_t" : "3 i8 int64_t");
    EXPECT_EQ(sample.argument("large_result", "seed"), is_x86 ? "1 i8 int64_t" : "0 i8 int64_t");
    EXPECT_EQ(sample.argument("by_value", "pair.left"),
              "argument 'pair.left' of 'by_value': it is a structure that is passed as its parts");
}

TEST(FunctionTypes, leaves_out_what_is_on_the_stack) {
    const Sample sample("c_sample");
    EXPECT_EQ(sample.argument("many", "f"), "5 i8 int64_t");
    EXPECT_EQ(sample.argument("many", "i"), "argument 'i' of 'many': it is on the stack");
}

TEST(FunctionTypes, follows_members_through_structures_and_pointers) {
    const Sample sample("c_sample");
    EXPECT_EQ(sample.argument("read_request", "request.number"), "0 +0 u8 uint64_t");
    EXPECT_EQ(sample.argument("read_request", "request.client.port"), "0 +8 +4 u2 uint16_t");
    EXPECT_EQ(sample.argument("read_request", "request.first.name.long_name"),
              "0 +40 text const char *");
    EXPECT_EQ(sample.argument("read_request", "request.client.name.short_name"),
              "0 +8 +8 letters u16 char[16]");
    EXPECT_EQ(sample.argument("read_request", "request.kind"), "0 +48 i4 int32_t");
    EXPECT_EQ(sample.argument("read_request", "request.is_new"), "0 +52 bits 0+1 u4 unsigned int");
    EXPECT_EQ(sample.argument("read_request", "request.level"), "0 +52 bits 1+5 u4 unsigned int");
    EXPECT_EQ(sample.argument("only_here", "handle.next.next.client.id"),
              "0 +56 +56 +8 +0 i4 int32_t");
    EXPECT_EQ(said(sample.types.result(sample.function("only_here"), "client.id")),
              "result +8 +0 i4 int32_t");
}

TEST(FunctionTypes, says_what_it_does_not_find) {
    const Sample sample("c_sample");
    EXPECT_EQ(sample.argument("read_request", "requst"),
              "'read_request' has no argument 'requst'; did you mean 'request'?");
    EXPECT_EQ(sample.argument("read_request", "zzzzz"),
              "'read_request' has no argument 'zzzzz'; it has request, why, flags, delta");
    EXPECT_EQ(
        sample.argument("read_request", "request.client.prot"),
        "argument 'request.client.prot' of 'read_request': 'struct client' has no member 'prot'; "
        "did you mean 'port'?");
    EXPECT_EQ(sample.argument("read_request", "flags.a"),
              "argument 'flags.a' of 'read_request': a value of type 'uint8_t' has no members, so "
              "no 'a'");
    EXPECT_EQ(sample.argument("read_request", "request.first"),
              "argument 'request.first' of 'read_request': it is a structure: name a member of it "
              "(struct client)");
    EXPECT_EQ(
        sample.argument("read_request", "request.weight"),
        "argument 'request.weight' of 'read_request': it is a number of floating point (float)");
    std::string deep = "request";
    for (int i = 0; i < 20; ++i) deep += ".next";
    EXPECT_NE(sample.argument("read_request", deep).find("at most 16 members"), std::string::npos);
}

TEST(FunctionTypes, knows_methods_base_classes_and_references_of_cpp) {
    const Sample sample("cpp_sample");
#ifdef __clang__  // in whose debugging data `this` itself is not const
    const std::string of_this = "this: 0 u8 const Cache *\n";
#else
    const std::string of_this = "this: 0 u8 const Cache * const\n";
#endif
    EXPECT_EQ(sample.signature("disk::Cache::read"),
              of_this +
                  "path: 1 text const char *\n"
                  "bytes: 2 u4 uint32_t\n"
                  "result u1 bool\n");
    EXPECT_EQ(sample.argument("disk::Cache::read", "this.label"), "0 +8 text const char *");
    EXPECT_EQ(sample.argument("disk::Cache::read", "this.pages_"), "0 +16 i4 int32_t");
    EXPECT_EQ(sample.argument("disk::Cache::read", "this.other_.number"), "0 +24 +0 i8 int64_t");
    EXPECT_EQ(sample.argument("disk::by_reference", "cache.number"), "0 +0 i8 int64_t");
    EXPECT_EQ(sample.argument("disk::by_reference", "after"), "2 i1 int8_t");
    EXPECT_EQ(sample.argument("disk::twice<int>", "value"), "0 i4 int");
    const bool is_x86 = kThisMachine == Machine::kX86_64;
    EXPECT_EQ(sample.argument("disk::Cache::text", "page"),
              is_x86 ? "2 i4 int32_t" : "1 i4 int32_t");
}

TEST(FunctionTypes, are_read_from_the_debug_file_of_a_stripped_program) {
    const Sample sample("c_sample_stripped");
    EXPECT_EQ(sample.argument("read_request", "request.client.port"), "0 +8 +4 u2 uint16_t");
}

TEST(FunctionTypes, are_not_said_without_debugging_data) {
    const base::TemporaryFolder folder = base::TemporaryFolder::make().value();
    const std::string path = folder.path() + "/program";
    base::write_file_atomically(path, ElfFixture().bytes()).value();
    EXPECT_EQ(FunctionTypes::open(path, kNoDebugFolder).error().text(),
              "'" + path + "' has no debugging data (DWARF): arguments have no names");
}

TEST(FunctionTypes, are_not_said_of_copies_that_the_compiler_changed) {
    const Sample sample("c_sample");
    ProgramFunction function = sample.function("only_here");
    function.name = function.shown = "only_here.constprop.0";
    EXPECT_EQ(sample.types.signature(function).error().text(),
              "the arguments of 'only_here.constprop.0' have no names: the compiler changed how "
              "this copy of a function is called");
}

// Whatever the data says: types or an error, never a crash. The sanitizers say so.
TEST(FunctionTypes, survive_any_damage) {
    const Sample sample("cpp_sample");
    const base::TemporaryFolder folder = base::TemporaryFolder::make().value();
    const std::string path = folder.path() + "/damaged";
    const std::string whole = base::read_file(sample.path, 1 << 20).value();
    const auto functions = sample.functions.matching("disk::*").value();
    // Most of a program is no debugging data, and damage to that is looked for.
    const auto begins = {".debug_info", ".debug_abbrev", ".debug_str"};
    std::mt19937_64 random(11);
    for (int i = 0; i < (base::kIsSanitized ? 60 : 240); ++i) {
        const auto section = sample.functions.file().section(begins.begin()[i % 3]).value().header;
        std::string damaged = whole;
        for (int flips = 0; flips < 4; ++flips) {
            damaged[section.sh_offset + random() % section.sh_size] = static_cast<char>(random());
        }
        const base::Fd file = base::open_file(path, O_WRONLY | O_CREAT | O_TRUNC).value();
        base::write_all(file, base::bytes_of(damaged)).value();
        const auto types = FunctionTypes::open(path, kNoDebugFolder);
        if (!types.ok()) continue;
        for (const ProgramFunction& function : functions) {
            (void)types.value().signature(function);
            (void)types.value().argument(function, "this.other_.label");
        }
    }
}

}  // namespace
}  // namespace dyetrace::probes
