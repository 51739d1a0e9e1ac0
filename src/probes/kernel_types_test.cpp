#include "probes/kernel_types.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "base/fd.h"
#include "base/file.h"
#include "base/random_bytes.h"
#include "base/temporary_folder.h"
#include "probes/btf_fixture.h"
#include "probes/member_path.h"

namespace dyetrace::probes {
namespace {

// Reads a value as a program of the kernel does, from this process.
std::string read_for_real(const ProbeValue& value, std::uint64_t argument) {
    std::uint64_t r = argument;
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < value.hops.size(); ++i) {
        at = r + static_cast<std::uint64_t>(value.hops[i]);
        const bool is_last = i + 1 == value.hops.size();
        r = 0;
        if (value.form != ValueForm::kTextArray || !is_last) {
            std::memcpy(&r, reinterpret_cast<const void*>(at), is_last ? value.bytes : 8);
        }
    }
    if (value.form == ValueForm::kText) {
        return reinterpret_cast<const char*>(r);
    }
    if (value.form == ValueForm::kTextArray) {
        return {reinterpret_cast<const char*>(at),
                strnlen(reinterpret_cast<const char*>(at), value.bytes)};
    }
    const unsigned bits = value.bits != 0 ? value.bits : value.bytes * 8;
    const std::uint64_t above = 64u - bits;
    const std::uint64_t up = r >> value.bit_offset << above;
    return value.is_signed ? fmt::format("{}", static_cast<std::int64_t>(up) >> above)
                           : fmt::format("{}", up >> above);
}

class KernelTypesOfATest : public testing::Test {
  protected:
    KernelTypesOfATest() : folder_(base::TemporaryFolder::make().value()) {
        btf_.function(
            "open", kernel_.int_, {{"file", kernel_.file_pointer}, {"how", kernel_.int_}});
    }

    KernelTypes open(Machine machine = Machine::kX86_64) {
        btf_.write(path("vmlinux"));
        return KernelTypes::open(files(), machine).value();
    }
    std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
    KernelTypesFiles files() const {
        return {.kernel = path("vmlinux"), .modules = folder_.path(), .symbols = path("../none")};
    }

    std::string value_of(const std::string& of, const void* argument = nullptr) {
        const auto value = open().value("open", of);
        if (!value.ok()) {
            return value.error().text();
        }
        return read_for_real(value.value(), reinterpret_cast<std::uint64_t>(argument));
    }
    // "file@0, how@1; left out: pair"
    std::string arguments_of(const std::string& function, Machine machine) {
        std::string text;
        const NamedValues all = open(machine).arguments(function).value();
        for (const auto& [name, value] : all.values) {
            text += fmt::format("{}@{} ", name, value.number);
        }
        for (const auto& [name, reason] : all.left_out) {
            text += fmt::format("{}: {}; ", name, reason);
        }
        return text;
    }

    base::TemporaryFolder folder_;
    BtfFixture btf_;
    TestKernel kernel_{btf_};
};

TEST_F(KernelTypesOfATest, lead_to_the_values_that_are_there) {
    File other{};
    File file{};
    Inode inode{};
    File* files[] = {&other, &file};
    long position = -77;
    file.inode = &inode;
    file.name = "a name";
    file.next = &other;
    file.all = files;
    file.position = &position;
    other.inode = &inode;
    other.name = "another";
    inode.mode = 0xfedc;
    inode.links = 0xffffffff;
    inode.number = 1234567890123;
    std::memcpy(inode.label, "twelve bytes", 12);
    inode.table[1][2] = -5;
    inode.low = 5;
    inode.middle = -60;
    inode.high = 0x3abcde;
    inode.wide = 0xfedcba9876;
    inode.is_open = true;
    file.own = inode;
    file.own.number = 99;
    EXPECT_EQ(value_of("file.inode.mode", &file), "65244");
    EXPECT_EQ(value_of("file.inode.links", &file), "4294967295");
    EXPECT_EQ(value_of("file.inode.signed_links", &file), "-1");
    EXPECT_EQ(value_of("file.inode.number", &file), "1234567890123");
    EXPECT_EQ(value_of("file.inode.label", &file), "twelve bytes");
    EXPECT_EQ(value_of("file.inode.label.1", &file), fmt::format("{}", int{'w'}));
    EXPECT_EQ(value_of("file.inode.table[1][2]", &file), "-5");
    EXPECT_EQ(value_of("file.inode.table.1.2", &file), "-5");
    EXPECT_EQ(value_of("file.inode.low", &file), "5");
    EXPECT_EQ(value_of("file.inode.middle", &file), "-60");
    EXPECT_EQ(value_of("file.inode.high", &file), fmt::format("{}", 0x3abcde));
    EXPECT_EQ(value_of("file.inode.wide", &file), fmt::format("{}", 0xfedcba9876));
    EXPECT_EQ(value_of("file.inode.is_open", &file), "1");
    EXPECT_EQ(value_of("file.own.number", &file), "99");
    EXPECT_EQ(value_of("file.own.middle", &file), "-60");
    EXPECT_EQ(value_of("file.name", &file), "a name");
    EXPECT_EQ(value_of("file.next.inode.number", &file), "1234567890123");
    EXPECT_EQ(value_of("file.all.value.name", &file), "another");
    EXPECT_EQ(value_of("file.all[1].name", &file), "a name");
    EXPECT_EQ(value_of("file.position.value", &file), "-77");
    EXPECT_EQ(value_of("file.position[0]", &file), "-77");
    EXPECT_EQ(value_of("file[0].name", &file), "a name");
    EXPECT_EQ(value_of("file.data", &file), "0");
    EXPECT_EQ(value_of("how", reinterpret_cast<void*>(0x1ffffffff)), "-1");
}

TEST_F(KernelTypesOfATest, say_how_a_value_is_read) {
    const ProbeValue text = open().value("open", "file.next.name").value();
    EXPECT_EQ(text.start, ValueStart::kArgument);
    EXPECT_EQ(text.number, 0);
    EXPECT_EQ(text.hops, (std::vector<std::int64_t>{offsetof(File, next), offsetof(File, name)}));
    EXPECT_EQ(text.form, ValueForm::kText);
    EXPECT_EQ(text.type, "const char *");
    EXPECT_FALSE(text.is_in_user_memory);
    const ProbeValue middle = open().value("open", "file.inode.middle").value();
    EXPECT_EQ(middle.bytes, 4u);
    EXPECT_EQ(middle.bit_offset, 3);
    EXPECT_EQ(middle.bits, 7);
    const ProbeValue tail = open().value("open", "file.tail").value();
    EXPECT_EQ(tail.form, ValueForm::kTextArray);
    EXPECT_EQ(tail.bytes, kOpenTextBytes);
    const ProbeValue how = open().value("open", "how").value();
    EXPECT_EQ(how.number, 1);
    EXPECT_TRUE(how.hops.empty());
    EXPECT_EQ(how.type, "int");
}

TEST_F(KernelTypesOfATest, say_why_a_path_leads_nowhere) {
    EXPECT_EQ(value_of("fil.name"), "open has no 'fil', did you mean 'file'?");
    EXPECT_EQ(value_of("file.inodes"), "struct file has no 'inodes', did you mean 'inode'?");
    EXPECT_EQ(value_of("file.inode.link"), "struct inode has no 'link', did you mean 'links'?");
    EXPECT_EQ(value_of("file.\x1b"), "struct file has no '\\x1b'");
    EXPECT_EQ(value_of("file.own"), "'file.own' (struct inode): one member of it can be read");
    EXPECT_EQ(value_of("file.data.x"), "'file.data' (void *): what it points to has no type");
    EXPECT_EQ(value_of("file.all.name"),
              "'file.all' (struct file **) has no 'name', what it points to is 'file.all.value'");
    EXPECT_EQ(value_of("file.inode.mode.x"), "'file.inode.mode' (umode_t) has no 'x'");
    EXPECT_EQ(value_of("file.inode.low.0"), "'file.inode.low' (unsigned int) has no '0'");
    EXPECT_EQ(value_of("file.inode.table"),
              "'file.inode.table' (short[2][3]): one element can be read, as 'file.inode.table.0'");
    EXPECT_EQ(value_of("file.inode.table.2"),
              "'file.inode.table' (short[2][3]): its last element is 'file.inode.table.1'");
    EXPECT_EQ(value_of("file.inode.table.x"),
              "'file.inode.table' (short[2][3]): an element of it is 'file.inode.table.0'");
    EXPECT_EQ(value_of("file[9999999].name"), "element 9999999 of 'file' is beyond 1048576");
    for (const char* path : {"",
                             ".",
                             "file.",
                             "file..name",
                             "file[",
                             "file[x]",
                             "file[1",
                             "file[-1]",
                             "file[1]name",
                             "[1]",
                             "file[99999999999999999999]"}) {
        EXPECT_NE(value_of(path).find("names no value: "), std::string::npos) << path;
    }
    std::string deep = "file";
    for (std::size_t i = 0; i < kPartsMax; ++i) {
        deep += ".next";
    }
    EXPECT_NE(value_of(deep).find("it has more than 16 parts"), std::string::npos);
    EXPECT_NE(value_of(std::string(2000, 'a')).find("more than 1024 bytes"), std::string::npos);
}

TEST_F(KernelTypesOfATest, tell_functions_as_c_writes_them) {
    const std::uint32_t callback =
        btf_.pointer(btf_.prototype(kernel_.int_, {{"", kernel_.text}, {"", btf_.pointer(0)}}));
    const std::uint32_t constant_pointer = btf_.constant(kernel_.text);
    const std::uint32_t words = btf_.pointer(constant_pointer);
    const std::uint32_t row = btf_.pointer(btf_.array(kernel_.int_, 4));
    btf_.function("each", kernel_.file_pointer, {{"callback", callback}, {"row", row}});
    btf_.function("print", 0, {{"words", words}, {nullptr, 0}});
    btf_.function("stop", 0, {});
    const std::uint32_t fixed = btf_.constant(btf_.array(btf_.constant(kernel_.char_), 8));
    btf_.function("set", 0, {{"to", btf_.pointer(fixed)}});
    KernelTypes types = open();
    const auto prototype = [&](const std::string& name) {
        return types.functions(name)[0].prototype;
    };
    EXPECT_EQ(prototype("open"), "int open(struct file *file, int how)");
    EXPECT_EQ(prototype("each"),
              "struct file *each(int (*callback)(const char *, void *), int (*row)[4])");
    EXPECT_EQ(prototype("print"), "void print(const char *const *words, ...)");
    EXPECT_EQ(prototype("stop"), "void stop(void)");
    EXPECT_EQ(prototype("set"), "void set(const char (*to)[8])");
    EXPECT_EQ(types.functions("*[pt]*").size(), 4u);
    EXPECT_TRUE(types.functions("p").empty());
}

TEST_F(KernelTypesOfATest, count_registers_as_the_machine_does) {
    const std::uint32_t small = btf_.structure("small", 8);
    btf_.member("a", kernel_.long_, 0);
    const std::uint32_t pair = btf_.structure("pair", 16);
    btf_.member("a", kernel_.long_, 0);
    btf_.member("b", kernel_.long_, 8);
    const std::uint32_t large = btf_.structure("large", 24);
    btf_.member("a", kernel_.long_, 0);
    const std::uint32_t wide = btf_.integer("__int128", 16, BTF_INT_SIGNED);
    const auto n = kernel_.int_;
    btf_.function(
        "seven", 0, {{"a", n}, {"b", n}, {"c", n}, {"d", n}, {"e", n}, {"f", n}, {"g", n}});
    btf_.function("pairs", 0, {{"a", small}, {"b", n}, {"c", pair}, {"d", n}});
    btf_.function("larges", 0, {{"a", large}, {"b", n}});
    btf_.function("wides", 0, {{"a", n}, {"b", wide}, {"c", n}});
    btf_.function(
        "late", 0, {{"a", n}, {"b", n}, {"c", n}, {"d", n}, {"e", n}, {"f", pair}, {"g", n}});
    using enum Machine;
    EXPECT_EQ(arguments_of("seven", kX86_64),
              "a@0 b@1 c@2 d@3 e@4 f@5 g: it is on the stack, after the 6 that registers hold; ");
    EXPECT_EQ(arguments_of("seven", kArm64), "a@0 b@1 c@2 d@3 e@4 f@5 g@6 ");
    EXPECT_EQ(arguments_of("pairs", kX86_64),
              "b@1 d@4 a: it is handed over as 8 bytes of struct small; "
              "c: it is handed over as 16 bytes of struct pair; ");
    EXPECT_EQ(arguments_of("larges", kX86_64).substr(0, 4), "b@0 ");
    EXPECT_EQ(arguments_of("larges", kArm64).substr(0, 4), "b@1 ");
    EXPECT_EQ(arguments_of("wides", kX86_64).substr(0, 8), "a@0 c@3 ");
    EXPECT_EQ(arguments_of("wides", kArm64).substr(0, 8), "a@0 c@4 ");
    EXPECT_EQ(arguments_of("late", kX86_64).substr(20, 4), "g@5 ");
    EXPECT_EQ(arguments_of("late", kArm64).substr(20, 4), "g@7 ");
    EXPECT_EQ(open().value("seven", "g").error().text(),
              "'g' of seven cannot be read: it is on the stack, after the 6 that registers hold");
    EXPECT_EQ(open().value("pairs", "c.a").error().text(),
              "'c' of pairs cannot be read: it is handed over as 16 bytes of struct pair");
}

TEST_F(KernelTypesOfATest, tell_what_a_function_returns) {
    btf_.function("find", kernel_.file_pointer, {});
    btf_.function("stop", 0, {});
    btf_.function("copy", kernel_.inode, {});
    KernelTypes types = open();
    const ProbeValue number = types.result("open").value().value();
    EXPECT_EQ(number.start, ValueStart::kResult);
    EXPECT_EQ(number.bytes, 4u);
    EXPECT_TRUE(number.is_signed);
    EXPECT_FALSE(types.result("stop").value().has_value());
    EXPECT_EQ(types.result_value("stop", "x").error().text(), "stop returns nothing");
    const ProbeValue name = types.result_value("find", "name").value();
    EXPECT_EQ(name.start, ValueStart::kResult);
    EXPECT_EQ(name.hops, std::vector<std::int64_t>{offsetof(File, name)});
    EXPECT_EQ(types.result("copy").error().text(),
              "'result' (struct inode) is handed over itself, not its address");
    EXPECT_EQ(types.result_value("copy", "mode").error().text(),
              "'result' (struct inode) is handed over itself, not its address");
}

TEST_F(KernelTypesOfATest, tell_text_from_bytes) {
    const std::uint32_t octet = btf_.integer("unsigned char", 1);
    const std::uint32_t text = btf_.pointer(btf_.constant(octet));
    const std::uint32_t into = btf_.pointer(octet);
    const std::uint32_t bytes = btf_.pointer(btf_.constant(btf_.alias("u8", octet)));
    const std::uint32_t letters = btf_.pointer(kernel_.char_);
    btf_.function("f", 0, {{"text", text}, {"into", into}, {"bytes", bytes}, {"letters", letters}});
    KernelTypes types = open();
    EXPECT_EQ(types.value("f", "text").value().form, ValueForm::kText);
    EXPECT_EQ(types.value("f", "into").value().form, ValueForm::kInteger);
    EXPECT_EQ(types.value("f", "bytes").value().form, ValueForm::kInteger);
    EXPECT_EQ(types.value("f", "letters").value().form, ValueForm::kText);
}

TEST_F(KernelTypesOfATest, know_a_process_s_memory_by_its_tag) {
    const std::uint32_t path = btf_.pointer(btf_.tag("user", btf_.constant(kernel_.char_)));
    const std::uint32_t user_file = btf_.pointer(btf_.tag("user", kernel_.file));
    const std::uint32_t counter = btf_.pointer(btf_.tag("percpu", kernel_.long_));
    const std::uint32_t holder = btf_.structure("holder", 16);
    btf_.member("path", path, 0);
    btf_.member("file", user_file, 8);
    const std::uint32_t holder_pointer = btf_.pointer(holder);
    btf_.function(
        "do_open",
        0,
        {{"path", path}, {"file", user_file}, {"holder", holder_pointer}, {"counter", counter}});
    KernelTypes types = open();
    const ProbeValue text = types.value("do_open", "path").value();
    EXPECT_EQ(text.form, ValueForm::kText);
    EXPECT_TRUE(text.is_in_user_memory);
    EXPECT_EQ(text.type, "const char *");
    EXPECT_TRUE(types.value("do_open", "file.inode.mode").value().is_in_user_memory);
    EXPECT_FALSE(types.value("do_open", "file").value().is_in_user_memory);
    EXPECT_EQ(types.value("do_open", "holder.path").value().form, ValueForm::kInteger);
    EXPECT_EQ(
        types.value("do_open", "holder.file.name").error().text(),
        "'holder.file' (struct file *): it points from the kernel's memory into the process's");
    EXPECT_EQ(types.value("do_open", "counter.value").error().text(),
              "'counter' (long *): each CPU has its own");
}

TEST_F(KernelTypesOfATest, know_bit_fields_of_old_and_of_packed_structures) {
    const std::uint32_t bits = btf_.integer("unsigned int", 4);
    auto* number = const_cast<btf_type*>(btf__type_by_id(btf_.types.get(), bits));
    reinterpret_cast<std::uint32_t*>(number + 1)[0] = 2 << 16 | 5;  // 5 bits from bit 2
    const std::uint32_t half = btf_.integer("unsigned short", 2);
    const std::uint32_t old = btf_.structure("old", 8);
    btf_.member("field", bits, 4);
    const std::uint32_t packed = btf_.structure("packed", 16);
    btf_.bits("field", half, 11, 10);
    btf_.bits("nine", kernel_.long_, 61, 64);
    const std::uint32_t old_pointer = btf_.pointer(old), packed_pointer = btf_.pointer(packed);
    btf_.function("f", 0, {{"old", old_pointer}, {"packed", packed_pointer}});
    KernelTypes types = open();
    const ProbeValue of_old = types.value("f", "old.field").value();
    EXPECT_EQ(of_old.hops, std::vector<std::int64_t>{4});
    EXPECT_EQ(of_old.bytes, 4u);
    EXPECT_EQ(of_old.bit_offset, 2);
    EXPECT_EQ(of_old.bits, 5);
    const ProbeValue of_packed = types.value("f", "packed.field").value();
    EXPECT_EQ(of_packed.hops, std::vector<std::int64_t>{1});
    EXPECT_EQ(of_packed.bytes, 2u);
    EXPECT_EQ(of_packed.bit_offset, 3);
    EXPECT_EQ(of_packed.bits, 10);
    EXPECT_FALSE(types.value("f", "packed.nine").ok());
}

TEST_F(KernelTypesOfATest, read_enums_and_refuse_what_is_no_number) {
    const std::uint32_t state =
        static_cast<std::uint32_t>(btf__add_enum(btf_.types.get(), "state", 4));
    const std::uint32_t real =
        static_cast<std::uint32_t>(btf__add_float(btf_.types.get(), "double", 8));
    const std::uint32_t hidden =
        static_cast<std::uint32_t>(btf__add_fwd(btf_.types.get(), "hidden", BTF_FWD_STRUCT));
    const std::uint32_t inode =
        static_cast<std::uint32_t>(btf__add_fwd(btf_.types.get(), "inode", BTF_FWD_STRUCT));
    const std::uint32_t hidden_pointer = btf_.pointer(hidden), inode_pointer = btf_.pointer(inode);
    btf_.function(
        "f",
        0,
        {{"state", state}, {"real", real}, {"hidden", hidden_pointer}, {"", inode_pointer}});
    KernelTypes types = open();
    EXPECT_EQ(types.value("f", "state").value().type, "enum state");
    EXPECT_EQ(types.value("f", "real").error().text(),
              "'real' of f cannot be read: it is a floating-point number");
    EXPECT_EQ(types.value("f", "hidden.x").error().text(),
              "'hidden' (struct hidden *): the kernel's types do not say what is in it");
    EXPECT_EQ(types.value("f", "argument3.mode").value().number,
              2);  // the structure is there elsewhere
}

TEST_F(KernelTypesOfATest, of_modules_are_read_when_the_kernel_has_not_the_name) {
    btf_.write(path("vmlinux"));
    BtfFixture module(btf_.types.get());
    const std::uint32_t own = module.structure("own", 16);
    module.member("file", kernel_.file_pointer, 8);
    const std::uint32_t own_pointer = module.pointer(own);
    module.function("module_read", kernel_.int_, {{"own", own_pointer}});
    module.write(path("ext9"));
    base::write_file_atomically(path("broken"), "no types").value();
    KernelTypes types = KernelTypes::open(files(), Machine::kX86_64).value();
    EXPECT_EQ(types.value("open", "how").value().number, 1);
    EXPECT_TRUE(types.problems().empty());
    EXPECT_EQ(types.value("module_read", "own.file.inode.number").value().hops,
              (std::vector<std::int64_t>{8, offsetof(File, inode), offsetof(Inode, number)}));
    EXPECT_EQ(types.functions("module_*")[0].module, "ext9");
    ASSERT_EQ(types.problems().size(), 1u);
    const std::string said = types.arguments("module_write").error().text();
    EXPECT_EQ(said.find("the kernel has no function 'module_write', did you mean 'module_read'? "
                        "(not all modules were asked: "),
              0u)
        << said;
}

TEST_F(KernelTypesOfATest, lead_from_tracepoints_with_the_names_of_their_callers) {
    const std::uint32_t nothing = btf_.pointer(0);
    const std::uint32_t bare = btf_.prototype(
        0, {{nullptr, nothing}, {nullptr, kernel_.int_}, {nullptr, kernel_.file_pointer}});
    btf_.alias("btf_trace_opened", btf_.pointer(bare));
    btf_.alias("btf_trace_closed", btf_.pointer(bare));
    btf_.function("__traceiter_opened",
                  kernel_.int_,
                  {{"__data", nothing}, {"how", kernel_.int_}, {"file", kernel_.file_pointer}});
    KernelTypes types = open();
    EXPECT_EQ(types.raw_tracepoints("*ed"), (std::vector<std::string>{"closed", "opened"}));
    const ProbeValue value = types.raw_tracepoint_value("opened", "file.inode.number").value();
    EXPECT_EQ(value.start, ValueStart::kContext);
    EXPECT_EQ(value.number, 8);
    EXPECT_EQ(value.hops,
              (std::vector<std::int64_t>{offsetof(File, inode), offsetof(Inode, number)}));
    EXPECT_EQ(types.raw_tracepoint_arguments("opened").value().values[0].name, "how");
    EXPECT_EQ(types.raw_tracepoint_arguments("closed").value().values[1].name, "argument1");
    EXPECT_EQ(types.raw_tracepoint_value("opned", "x").error().text(),
              "the kernel has no tracepoint 'opned', did you mean 'opened'?");
}

TEST_F(KernelTypesOfATest, say_which_function_is_not_there_and_why) {
    base::write_file_atomically(path("symbols"), "0 t open\n0 t hidden\n").value();
    btf_.function("twice", 0, {});
    btf_.function("twice", 0, {{"a", kernel_.int_}});
    btf_.write(path("vmlinux"));
    KernelTypesFiles some = files();
    some.symbols = path("symbols");
    some.modules = "";
    KernelTypes types = KernelTypes::open(some).value();
    EXPECT_EQ(types.arguments("opne").error().text(),
              "the kernel has no function 'opne', did you mean 'open'?");
    EXPECT_EQ(types.arguments("hidden").error().text(),
              "the kernel has a function 'hidden', but does not tell the types of its arguments");
    EXPECT_EQ(types.arguments("twice").error().text(),
              "the kernel has different functions 'twice': void twice(void) and void twice(int a)");
    EXPECT_EQ(types.arguments("o*").error().code(), ErrorCode::kNotFound);
    some.kernel = path("absent");
    EXPECT_EQ(KernelTypes::open(some).error().code(), ErrorCode::kUnsupported);
    some.kernel = path("symbols");
    EXPECT_EQ(KernelTypes::open(some).error().code(), ErrorCode::kCorrupt);
}

TEST_F(KernelTypesOfATest, that_are_damaged_do_no_harm) {
    const std::string bytes = btf_.bytes();
    std::mt19937_64 random(7);
    std::size_t read = 0;
    for (int i = 0; i < 2000; ++i) {
        const base::Fd file =
            base::open_file(path("vmlinux"), O_WRONLY | O_CREAT | O_TRUNC).value();
        base::write_all(file, base::bytes_of(base::mutated(bytes, 4, random, {}))).value();
        KernelTypesFiles some = files();
        some.modules = "";
        auto types = KernelTypes::open(some);
        if (!types.ok()) {
            continue;
        }
        ++read;
        for (const KernelFunction& each : types.value().functions("*")) {
            (void)types.value().arguments(each.name);
            (void)types.value().result(each.name);
        }
        for (const char* of :
             {"file.inode.label", "file.all[1].own.middle", "file.position.value"}) {
            (void)types.value().value("open", of);
        }
    }
    EXPECT_GT(read, 100u);
}

TEST(CDeclaration, of_types_that_turn_in_circles_ends) {
    BtfFixture btf;
    const std::uint32_t circle = btf.pointer(2);
    btf.pointer(circle);
    EXPECT_NE(c_declaration(*btf.types, circle, "").find("..."), std::string::npos);
    BtfFixture wide;  // a prototype of 200 parameters, each of which is a pointer to it
    const std::uint32_t prototype = wide.prototype(0, {});
    for (int i = 0; i < 200; ++i) {
        CHECK(btf__add_func_param(wide.types.get(), "p", 2) == 0);
    }
    wide.pointer(prototype);
    EXPECT_LT(c_declaration(*wide.types, prototype, "f").size(), 100'000u);
    BtfFixture alias;
    alias.alias("a", 2);
    alias.alias("b", 1);
    EXPECT_EQ(plain_type(*alias.types, 1).type, nullptr);
}

}  // namespace
}  // namespace dyetrace::probes
