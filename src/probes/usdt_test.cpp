#include "probes/usdt.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "base/file.h"
#include "base/random_bytes.h"
#include "base/temporary_folder.h"
#include "probes/elf_fixture.h"
#include "probes/samples_folder.h"

namespace dyetrace::probes {
namespace {

constexpr std::uint64_t kAddress = ElfFixture::kCodeAddress;
// What stands before a number in an argument.
const std::string kNumber = kThisMachine == Machine::kX86_64 ? "$" : "";

ElfFile fixture(const ElfFixture& file) {
    return ElfFile::of_memory(file.bytes(), "program").value();
}

// A line for each place: provider:name location semaphore arguments.
std::string said(const std::vector<UsdtMark>& marks) {
    std::string text;
    for (const UsdtMark& mark : marks) {
        for (const UsdtPlace& place : mark.places) {
            text += fmt::format("{}:{} {:#x} {:#x} {}\n",
                                mark.provider,
                                mark.name,
                                place.offset,
                                place.semaphore,
                                place.arguments_text);
        }
    }
    return text;
}

TEST(Usdt, reads_marks_by_name_each_with_its_places) {
    ElfFixture file;
    file.add_section(
        ".note.stapsdt",
        SHT_NOTE,
        ElfFixture::mark(kAddress + 0x30, 0, 0, "shop", "sold", "8@" + kNumber + "1") +
            ElfFixture::mark(kAddress + 0x10, 0, kAddress + 0x100, "shop", "bought", "") +
            ElfFixture::note("other", 3, "skipped") +
            ElfFixture::mark(kAddress + 0x20, 0, 0, "shop", "sold", "8@" + kNumber + "2"));
    const ElfFile program = fixture(file);
    const auto marks = usdt_marks(program).value();
    ASSERT_EQ(marks.size(), 2u);
    EXPECT_EQ(said(marks),
              "shop:bought 0x1010 0x1100 \nshop:sold 0x1030 0x0 8@" + kNumber +
                  "1\nshop:sold 0x1020 0x0 8@" + kNumber + "2\n");
    EXPECT_EQ(marks[1].places[1].arguments[0].value.number, 2);
}

TEST(Usdt, corrects_addresses_of_a_program_that_was_moved_after_linking) {
    ElfFixture file;
    file.add_section(".stapsdt.base", SHT_PROGBITS, std::string(1, '\0'), kAddress + 0x800);
    file.add_section(
        ".note.stapsdt", SHT_NOTE, ElfFixture::mark(0x110, 0x900, 0x200, "a", "b", ""));
    EXPECT_EQ(said(usdt_marks(fixture(file)).value()), "a:b 0x1010 0x1100 \n");
}

TEST(Usdt, finds_marks_like_a_pattern_or_says_which_there_are) {
    ElfFixture file;
    file.add_section(".note.stapsdt",
                     SHT_NOTE,
                     ElfFixture::mark(kAddress, 0, 0, "shop", "sold", "") +
                         ElfFixture::mark(kAddress, 0, 0, "bank", "paid", ""));
    const ElfFile program = fixture(file);
    const auto marks = usdt_marks(program).value();
    EXPECT_EQ(said(matching_marks(program, marks, "*", "s*").value()), "shop:sold 0x1000 0x0 \n");
    EXPECT_EQ(matching_marks(program, marks, "shop", "slod").error().text(),
              "'program' has no mark 'shop:slod'; did you mean 'shop:sold'?");
    EXPECT_EQ(matching_marks(program, marks, "x", "yyyyyyyy").error().text(),
              "'program' has no mark 'x:yyyyyyyy'; it has bank:paid, shop:sold");
    EXPECT_EQ(matching_marks(program, {}, "*", "*").error().text(),
              "'program' has no marks (USDT)");
}

TEST(Usdt, reads_marks_that_an_assembler_wrote) {
    const ElfFile program =
        ElfFile::open(std::string(kSamplesFolder) + "/c_sample_stripped").value();
    const auto marks = usdt_marks(program).value();
    ASSERT_EQ(marks.size(), 2u);
    EXPECT_EQ(marks[0].name, "begun");
    EXPECT_NE(marks[0].places.at(0).semaphore, 0u);
    EXPECT_EQ(marks[1].places.size(), 2u);
}

TEST(Usdt, refuses_damaged_notes) {
    for (const std::string& note :
         {ElfFixture::mark(kAddress, 0, 0, "a", "b", "").substr(0, 30),
          ElfFixture::mark(0x10, 0, 0, "a", "b", ""),
          ElfFixture::mark(kAddress, 0, 0x10, "a", "b", ""),
          ElfFixture::note("stapsdt", 3, std::string(24, '\0') + "no end")}) {
        ElfFixture file;
        file.add_section(".note.stapsdt", SHT_NOTE, note);
        EXPECT_EQ(usdt_marks(fixture(file)).error().text(),
                  "the marks (.note.stapsdt) of 'program' are damaged");
    }
}

TEST(Usdt, survives_any_damage) {
    ElfFixture file;
    std::string notes;
    for (int i = 0; i < 8; ++i)
        notes += ElfFixture::mark(kAddress, 0, 0, "shop", "sold", "8@%rax -4@[sp, 12]");
    std::mt19937_64 random(5);
    for (int i = 0; i < 2000; ++i) {
        ElfFixture damaged;
        damaged.add_section(".note.stapsdt", SHT_NOTE, base::mutated(notes, 4, random, {}));
        const auto marks = usdt_marks(fixture(damaged));
        if (marks.ok()) (void)said(marks.value());
    }
    file.add_section(".note.stapsdt", SHT_NOTE, notes);
    const std::string whole = file.bytes();
    for (std::size_t size = 0; size < whole.size(); size += 97) {
        const auto program = ElfFile::of_memory(whole.substr(0, size), "cut");
        if (program.ok()) (void)usdt_marks(program.value());
    }
}

std::string output_of(const std::string& command) {
    FILE* pipe = ::popen(command.c_str(), "r");
    std::string text;
    std::vector<char> piece(4096);
    while (pipe != nullptr) {
        const std::size_t size = ::fread(piece.data(), 1, piece.size(), pipe);
        text.append(piece.data(), size);
        if (size == 0) break;
    }
    if (pipe != nullptr) ::pclose(pipe);
    return text;
}

// What `readelf -n` says, in the words of said(), sorted.
std::vector<std::string> marks_by_readelf(const ElfFile& program) {
    const std::string text =
        output_of("LC_ALL=C readelf -W -n '" + program.path() + "' 2>/dev/null");
    std::vector<std::string> lines;
    std::string provider, name;
    std::uint64_t location = 0, semaphore = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string line = text.substr(at, end - at);
        at = end + 1;
        const auto after = [&](const std::string& word) {
            const std::size_t begin = line.find(word + ": ");
            return begin == line.npos ? "" : line.substr(begin + word.size() + 2);
        };
        if (line.find("Provider: ") != line.npos) provider = after("Provider");
        if (line.find("Name: ") != line.npos) name = after("Name");
        if (line.find("Location: ") != line.npos) {
            location = std::stoull(after("Location"), nullptr, 16);
            semaphore = std::stoull(after("Semaphore"), nullptr, 16);
        }
        if (line.find("Arguments:") == line.npos) continue;
        lines.push_back(fmt::format("{}:{} {:#x} {:#x} {}",
                                    provider,
                                    name,
                                    program.offset_of(location).value_or(0),
                                    semaphore == 0 ? 0 : program.offset_of(semaphore).value_or(1),
                                    after("Arguments")));
    }
    std::sort(lines.begin(), lines.end());
    return lines;
}

void compare_with_readelf(const std::string& path) {
    const ElfFile program = ElfFile::open(path).value();
    const auto marks = usdt_marks(program).value();
    std::vector<std::string> lines;
    for (const UsdtMark& mark : marks) {
        for (const UsdtPlace& place : mark.places) {
            UsdtMark one = {mark.provider, mark.name, {place}};
            std::string line = said({one});
            line.pop_back();
            lines.push_back(line);
        }
    }
    std::sort(lines.begin(), lines.end());
    EXPECT_FALSE(lines.empty());
    EXPECT_EQ(lines, marks_by_readelf(program));
}

TEST(Usdt, says_of_the_sample_what_readelf_says) {
    compare_with_readelf(std::string(kSamplesFolder) + "/c_sample");
}

TEST(Usdt, says_of_postgres_what_readelf_says) {
    std::string postgres;
    const auto versions = base::list_folder("/usr/lib/postgresql");
    for (const std::string& version :
         versions.ok() ? versions.value() : std::vector<std::string>()) {
        postgres = "/usr/lib/postgresql/" + version + "/bin/postgres";
    }
    if (postgres.empty())
        GTEST_SKIP() << "no PostgreSQL is installed, whose marks would be compared";
    compare_with_readelf(postgres);
    const auto marks = usdt_marks(ElfFile::open(postgres).value()).value();
    for (const UsdtMark& mark : marks) {
        for (const UsdtPlace& place : mark.places) {
            const std::size_t expected = static_cast<std::size_t>(
                std::count(place.arguments_text.begin(), place.arguments_text.end(), '@'));
            EXPECT_EQ(place.arguments.size() + place.left_out.size(), expected)
                << place.arguments_text;
        }
    }
}

}  // namespace
}  // namespace dyetrace::probes
