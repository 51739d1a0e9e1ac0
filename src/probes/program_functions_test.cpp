#include "probes/program_functions.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <lzma.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "base/file.h"
#include "base/random_bytes.h"
#include "base/sanitized.h"
#include "base/temporary_folder.h"
#include "probes/elf_fixture.h"
#include "probes/samples_folder.h"

namespace dyetrace::probes {
namespace {

const std::string kFolder = kSamplesFolder;

ProgramFunctions sample(const std::string& name) {
    return ProgramFunctions::open(kFolder + "/" + name, kNoDebugFolder).value();
}

// Names as linked, one a line.
std::string names(const Result<std::vector<ProgramFunction>>& found) {
    if (!found.ok()) return found.error().text();
    std::string text;
    for (const ProgramFunction& each : found.value()) text += each.name + "\n";
    return text;
}

// Files that a test makes.
class ProgramFiles : public testing::Test {
  protected:
    std::string write(const std::string& name, const std::string& bytes) {
        const std::string path = folder_.path() + "/" + name;
        base::make_folders(base::parent_folder(path)).value();
        const base::Fd file = base::open_file(path, O_WRONLY | O_CREAT | O_TRUNC).value();
        base::write_all(file, base::bytes_of(bytes)).value();
        return path;
    }
    ProgramFunctions open(const std::string& path) {
        return ProgramFunctions::open(path, folder_.path() + "/debug").value();
    }

    base::TemporaryFolder folder_ = base::TemporaryFolder::make().value();
};

std::string packed(const std::string& bytes) {
    std::string out(lzma_stream_buffer_bound(bytes.size()), '\0');
    std::size_t size = 0;
    const lzma_ret status =
        lzma_easy_buffer_encode(6,
                                LZMA_CHECK_CRC32,
                                nullptr,
                                reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                bytes.size(),
                                reinterpret_cast<std::uint8_t*>(out.data()),
                                &size,
                                out.size());
    EXPECT_EQ(status, LZMA_OK);
    out.resize(size);
    return out;
}

TEST(ProgramFunctions, finds_a_function_by_its_name) {
    const ProgramFunctions functions = sample("c_sample");
    const auto found = functions.matching("only_here").value();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].shown, "only_here");
    EXPECT_GT(found[0].size, 0u);
    EXPECT_EQ(functions.file().offset_of(found[0].address), found[0].offset);
    EXPECT_EQ(functions.at(found[0].address + found[0].size - 1), found[0]);
}

TEST(ProgramFunctions, finds_functions_like_a_pattern) {
    const ProgramFunctions functions = sample("c_sample");
    EXPECT_EQ(names(functions.matching("m[ai]*ed")), "mixed\n");
    EXPECT_EQ(names(functions.matching("b?_value")), "by_value\n");
}

TEST(ProgramFunctions, counts_names_of_one_function_once) {
    const ProgramFunctions functions = sample("c_sample");
    EXPECT_EQ(names(functions.matching("read_request*")), "read_request\n");
    EXPECT_EQ(names(functions.matching("read_request_by*")), "read_request_by_another_name\n");
}

TEST(ProgramFunctions, finds_cpp_by_linked_and_demangled_name_with_and_without_parameters) {
    const ProgramFunctions functions = sample("cpp_sample");
    const std::string linked = "_ZNK4disk5Cache4readEPKcj\n";
    EXPECT_EQ(names(functions.matching("_ZNK4disk5Cache4readEPKcj")), linked);
    EXPECT_EQ(names(functions.matching("disk::Cache::read")), linked);
    EXPECT_EQ(names(functions.matching("disk::Cache::read(char const*, unsigned int) const")),
              linked);
    EXPECT_EQ(names(functions.matching("disk::Cache::r*")), linked);
    EXPECT_EQ(functions.matching("disk::twice<int>").value()[0].shown, "int disk::twice<int>(int)");
}

TEST(ProgramFunctions, finds_a_function_of_a_stripped_program_by_its_debug_file) {
    const ProgramFunctions stripped = sample("c_sample_stripped");
    EXPECT_FALSE(stripped.is_stripped());
    EXPECT_EQ(stripped.matching("only_here").value(),
              sample("c_sample").matching("only_here").value());
}

TEST_F(ProgramFiles, find_their_debug_file_by_build_id) {
    ElfFixture debug, program;
    const std::string id = ElfFixture::note("GNU", 3, "\xab\xcd\xef");
    for (ElfFixture* each : {&debug, &program})
        each->add_section(".note.gnu.build-id", SHT_NOTE, id);
    debug.function("hidden", 0x40, 8);
    write("debug/.build-id/ab/cdef.debug", debug.bytes());
    const std::string path = write("program", program.bytes());
    EXPECT_EQ(open(path).matching("hidden").value()[0].offset, ElfFixture::kCodeOffset + 0x40);
}

TEST_F(ProgramFiles, pass_a_debug_file_of_another_build_over) {
    ElfFixture debug, program;
    debug.add_section(".note.gnu.build-id", SHT_NOTE, ElfFixture::note("GNU", 3, "\xab\xcd\x00"));
    program.add_section(".note.gnu.build-id", SHT_NOTE, ElfFixture::note("GNU", 3, "\xab\xcd\xef"));
    debug.function("hidden", 0x40, 8);
    write("debug/.build-id/ab/cdef.debug", debug.bytes());
    EXPECT_TRUE(open(write("program", program.bytes())).is_stripped());
}

TEST_F(ProgramFiles, are_read_by_their_small_copy_of_symbols) {
    ElfFixture mini, program;
    mini.function("hidden", 0x40, 8);
    program.function("exported", 0x80, 8);
    program.add_section(".gnu_debugdata", SHT_PROGBITS, packed(mini.bytes()));
    const ProgramFunctions functions = open(write("program", program.bytes(true)));
    EXPECT_EQ(names(functions.matching("*")), "hidden\nexported\n");
    EXPECT_FALSE(functions.is_stripped());
}

TEST_F(ProgramFiles, with_a_damaged_small_copy_have_their_exported_functions) {
    ElfFixture program;
    program.function("exported", 0x80, 8);
    program.add_section(
        ".gnu_debugdata", SHT_PROGBITS, packed(ElfFixture().bytes()).substr(0, 100));
    const ProgramFunctions functions = open(write("program", program.bytes(true)));
    EXPECT_EQ(names(functions.matching("*")), "exported\n");
    EXPECT_TRUE(functions.is_stripped());
}

TEST_F(ProgramFiles, know_the_function_that_an_address_lies_in) {
    ElfFixture program;
    program.function("outer", 0x10, 0x40);
    program.function("inner", 0x20, 0x10);
    program.function("__alias_of_inner", 0x20, 0x10);
    program.function("without_size", 0x80, 0);
    program.function("last", 0xa0, 0x10);
    const ProgramFunctions functions = open(write("program", program.bytes()));
    const auto at = [&](std::uint64_t offset) {
        const auto found = functions.at(ElfFixture::kCodeAddress + offset);
        return found ? found->name : "none";
    };
    EXPECT_EQ(at(0x0f), "none");
    EXPECT_EQ(at(0x10), "outer");
    EXPECT_EQ(at(0x2f), "inner");
    EXPECT_EQ(at(0x30), "outer");
    EXPECT_EQ(at(0x50), "none");
    EXPECT_EQ(at(0x9f), "without_size");
    EXPECT_EQ(at(0xaf), "last");
    EXPECT_EQ(at(0xb0), "none");
}

TEST_F(ProgramFiles, say_that_they_are_stripped_and_which_marks_they_have) {
    ElfFixture program;
    program.add_section(".note.stapsdt",
                        SHT_NOTE,
                        ElfFixture::mark(ElfFixture::kCodeAddress, 0, 0, "shop", "sold", ""));
    const std::string path = write("program", program.bytes());
    EXPECT_EQ(names(open(path).matching("sell")),
              "'" + path +
                  "' has no function 'sell': it is stripped; install its debug symbols, or probe "
                  "it by its marks (USDT): shop:sold");
}

TEST_F(ProgramFiles, that_are_no_programs_are_refused_in_one_line) {
    const auto refusal = [&](const std::string& path) {
        return ProgramFunctions::open(path).error().message();
    };
    const std::string script = write("script", "#!/bin/sh\n"), text = write("text", "text");
    ElfFixture other;
    other.machine = EM_PPC64;
    const std::string foreign = write("foreign", other.bytes());
    EXPECT_EQ(refusal(script), "'" + script + "' is a script: name the program that runs it");
    EXPECT_EQ(refusal(text), "'" + text + "' is no program or library (no ELF file)");
    EXPECT_EQ(refusal(folder_.path()), "'" + folder_.path() + "' is no file of a program");
    EXPECT_EQ(refusal("/nonexistent/a"),
              "opening '/nonexistent/a': No such file or directory (ENOENT)");
    EXPECT_TRUE(refusal(foreign).starts_with("'" + foreign + "' is a program for PowerPC"))
        << refusal(foreign);
}

TEST(ProgramFunctions, suggests_a_name_that_is_near) {
    const std::string path = kFolder + "/c_sample";
    EXPECT_EQ(names(sample("c_sample").matching("only_hree")),
              "'" + path + "' has no function 'only_hree'; did you mean 'only_here'?");
    EXPECT_EQ(
        names(sample("cpp_sample").matching("disk::Cache::raed")),
        "'" + kFolder +
            "/cpp_sample' has no function 'disk::Cache::raed'; did you mean 'disk::Cache::read'?");
    EXPECT_EQ(names(sample("c_sample").matching("q*q")),
              "'" + path + "' has no function that is like 'q*q'");
}

TEST(ProgramFunctions, says_that_a_name_is_chosen_when_the_program_starts) {
    const std::string text = names(sample("c_sample").matching("chosen"));
    EXPECT_NE(text.find("(IFUNC)"), text.npos) << text;
}

TEST_F(ProgramFiles, with_names_of_any_size_are_not_read) {
    ElfFixture program;
    program.function("exported", 0x80, 8);
    std::string bytes = program.bytes();
    Elf64_Ehdr header = {};
    std::memcpy(&header, bytes.data(), sizeof(header));
    Elf64_Shdr names = {};  // .strtab is the third after the one that is none
    const std::size_t at = header.e_shoff + 3 * sizeof(names);
    std::memcpy(&names, bytes.data() + at, sizeof(names));
    names.sh_size = 1ULL << 40;
    std::memcpy(bytes.data() + at, &names, sizeof(names));
    const std::string path = write("large", bytes);
    EXPECT_EQ(ProgramFunctions::open(path).error().code(), ErrorCode::kLimitReached);
}

// Whatever the file claims: functions or an error, never a crash. The sanitizers say so.
void look_at(const std::string& path) {
    const auto functions = ProgramFunctions::open(path, kNoDebugFolder);
    if (!functions.ok()) return;
    (void)functions.value().matching("*");
    (void)functions.value().matching("only_here");
    (void)functions.value().at(0x401020);
}

TEST_F(ProgramFiles, may_be_cut_anywhere) {
    const std::string whole = base::read_file(kFolder + "/c_sample_stripped", 1 << 20).value();
    ElfFixture mini, program;
    mini.function("hidden", 0x40, 8);
    program.function("exported", 0x80, 8);
    program.add_section(".gnu_debugdata", SHT_PROGBITS, packed(mini.bytes()));
    for (const std::string& bytes : {whole, program.bytes(true)}) {
        for (std::size_t size = 0; size < bytes.size(); size += 97) {
            look_at(write("cut", bytes.substr(0, size)));
        }
    }
}

TEST_F(ProgramFiles, may_be_damaged_anywhere) {
    std::mt19937_64 random(3);
    const std::string whole = base::read_file(kFolder + "/c_sample", 1 << 20).value();
    for (int i = 0; i < (base::kIsSanitized ? 100 : 400); ++i) {
        std::string damaged = base::mutated(whole, 8, random, {});
        for (std::size_t at = 16; at < 64 && i % 2 == 0; ++at) {
            if (random() % 16 == 0 && at < damaged.size())
                damaged[at] = static_cast<char>(random());
        }
        look_at(write("damaged", damaged));
    }
}

}  // namespace
}  // namespace dyetrace::probes
