#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "base/file.h"
#include "base/random_bytes.h"
#include "base/temporary_folder.h"
#include "probes/elf_fixture.h"
#include "probes/kernel_names.h"
#include "probes/process_maps.h"
#include "probes/process_names.h"

namespace dyetrace::probes {
namespace {

// A folder that looks like /proc, with a program that processes have mapped.
class StackNames : public testing::Test {
  protected:
    std::string write(const std::string& name, const std::string& bytes) {
        const std::string path = folder_.path() + "/" + name;
        base::make_folders(base::parent_folder(path)).value();
        base::write_file_atomically(path, bytes).value();
        return path;
    }
    std::string write_program(const std::string& name) {
        ElfFixture program;
        program.function("_ZN4shop4sellEi", 0x100, 0x20);
        return write(name, program.bytes());
    }
    // A line of maps: the code of `path`, mapped at `begin`.
    static std::string mapped(const std::string& path, std::uint64_t begin) {
        struct stat status = {};
        ::stat(path.c_str(), &status);
        return fmt::format("{:x}-{:x} r-xp {:08x} fe:01 {} {:>20}\n",
                           begin,
                           begin + ElfFixture::kCodeBytes,
                           ElfFixture::kCodeOffset,
                           status.st_ino,
                           path);
    }

    base::TemporaryFolder folder_ = base::TemporaryFolder::make().value();
    ProcessNames names_{folder_.path() + "/proc", "/nonexistent"};
};

TEST_F(StackNames, name_functions_of_the_kernel_and_its_modules) {
    const auto names = KernelNames::read(write("kallsyms",
                                               "ffffffff81000000 T vfs_read\n"
                                               "ffffffff81000000 t another_name\n"
                                               "ffffffff81000100 D data\n"
                                               "ffffffff81000200 t vfs_write\n"
                                               "not a line\n"
                                               "ffffffffc0000000 t xfs_read\t[xfs]\n"))
                           .value();
    EXPECT_EQ(names.name_of(0xffffffff81000000), "vfs_read");
    EXPECT_EQ(names.name_of(0xffffffff810001ff), "vfs_read");
    EXPECT_EQ(names.name_of(0xffffffff81000200), "vfs_write");
    EXPECT_EQ(names.name_of(0xffffffffc0000010), "xfs_read [xfs]");
    EXPECT_EQ(names.name_of(0xffffffffd0000000), "0xffffffffd0000000");
    EXPECT_EQ(names.name_of(0x1000), "0x1000");
}

TEST_F(StackNames, of_a_kernel_that_hides_its_addresses_are_refused) {
    const std::string path =
        write("kallsyms", "0000000000000000 T vfs_read\n0000000000000000 T vfs_write\n");
    const auto names = KernelNames::read(path);
    EXPECT_EQ(names.error().code(), ErrorCode::kPermissionDenied);
    EXPECT_EQ(KernelNames().name_of(0x10), "0x10");
}

TEST_F(StackNames, name_functions_of_programs_and_what_has_no_name) {
    const std::string program = write_program("shop");
    write("proc/7/maps",
          mapped(program, 0x7f0000000000) + "7fff0000-7fff1000 r-xp 00000000 00:00 0  [vdso]\n");
    EXPECT_EQ(names_.name_of(7, 0x7f0000000110), "shop::sell(int)");
    EXPECT_EQ(names_.name_of(7, 0x7f0000000200), "shop+0x401200");
    EXPECT_EQ(names_.name_of(7, 0x7fff0010), "[vdso]");
    EXPECT_EQ(names_.name_of(7, 0x10), "0x10");
    EXPECT_EQ(names_.name_of(8, 0x7f0000000110), "0x7f0000000110");
}

TEST_F(StackNames, of_a_file_that_cannot_be_read_are_places_in_it) {
    write("proc/7/maps", "1000-2000 r-xp 00000300 fe:01 99 /usr/lib/libgone.so.1 (deleted)\n");
    EXPECT_EQ(names_.name_of(7, 0x1034), "libgone.so.1+0x334");
}

TEST_F(StackNames, of_a_process_that_is_gone_are_what_was_remembered) {
    const std::string program = write_program("shop");
    write("proc/7/maps", mapped(program, 0x10000));
    EXPECT_TRUE(names_.remember(7));
    std::filesystem::remove_all(folder_.path() + "/proc");
    EXPECT_EQ(names_.name_of(7, 0x10110), "shop::sell(int)");
    names_.forget(7);
    EXPECT_EQ(names_.name_of(7, 0x10110), "0x10110");
    EXPECT_FALSE(names_.remember(7));
}

TEST_F(StackNames, open_a_program_once_for_all_its_processes) {
    const std::string program = write_program("shop");
    for (int pid = 1; pid <= 200; ++pid) {
        base::make_folders(folder_.path() + "/proc/" + std::to_string(pid)).value();
        if (pid == 1) write("proc/1/maps", mapped(program, 0x10000));
        if (pid > 1) {
            std::filesystem::create_hard_link(
                folder_.path() + "/proc/1/maps",
                folder_.path() + "/proc/" + std::to_string(pid) + "/maps");
        }
        EXPECT_EQ(names_.name_of(pid, 0x10110), "shop::sell(int)");
    }
    EXPECT_EQ(names_.programs(), 1u);
    EXPECT_EQ(names_.processes(), 200u);
}

TEST_F(StackNames, are_kept_of_a_bounded_number_of_processes_and_programs) {
    std::string maps;
    for (std::uint64_t i = 0; i < ProcessNames::kProgramsMax + 10; ++i) {
        maps += fmt::format(
            "{:x}-{:x} r-xp 00000000 fe:01 {} /gone/{}\n", (i + 1) << 12, (i + 2) << 12, i + 1, i);
    }
    write("proc/1/maps", maps);
    for (std::uint64_t i = 0; i < ProcessNames::kProgramsMax + 10; ++i)
        names_.name_of(1, (i + 1) << 12);
    EXPECT_EQ(names_.programs(), ProcessNames::kProgramsMax);
    for (int pid = 1; pid < static_cast<int>(ProcessNames::kProcessesMax) + 10; ++pid)
        names_.remember(pid);
    EXPECT_EQ(names_.processes(), ProcessNames::kProcessesMax);
}

TEST_F(StackNames, find_libraries_that_are_loaded_later) {
    const std::string program = write_program("shop");
    write("proc/7/maps", mapped(program, 0x10000));
    names_.remember(7);
    write("proc/7/maps", mapped(program, 0x10000) + mapped(write_program("late"), 0x50000));
    EXPECT_EQ(names_.name_of(7, 0x50110), "shop::sell(int)");
}

TEST_F(StackNames, are_those_that_a_runtime_wrote_down) {
    write("proc/7/maps", "10000-20000 rwxp 00000000 00:00 0\n");
    write("proc/7/status", "Name:\tjava\nNSpid:\t7\t1\nThreads:\t3\n");
    EXPECT_EQ(names_.name_of(7, 0x10010), "0x10010");
    write("proc/7/root/tmp/perf-1.map",
          "10000 40 Shop::sell(int)\n10000 20 Shop::buy()\nnonsense\n");
    EXPECT_EQ(names_.name_of(7, 0x10010), "Shop::buy()");
    EXPECT_EQ(names_.name_of(7, 0x10030), "0x10030");
}

TEST_F(StackNames, of_this_process_are_found) {
    ProcessNames real;
    const auto address = reinterpret_cast<std::uint64_t>(&executable_maps);
    const std::string name = real.name_of(::getpid(), address);
    EXPECT_TRUE(name.find("executable_maps") != name.npos ||
                name.find("probes_test+0x") != name.npos)
        << name;
}

TEST(ProcessMaps, are_read_whatever_they_say) {
    const auto maps = executable_maps(
        "3000-4000 r-xp 00001000 fe:01 12   /a b\n1000-2000 rwxp 0 0:0 0\n5000-6000 rw-p 0 0:0 0 "
        "[heap]\n");
    ASSERT_EQ(maps.size(), 2u);
    EXPECT_EQ(maps[1], (ProcessMap{0x3000, 0x4000, 0x1000, "fe:01", 12, "/a b"}));
    EXPECT_EQ(map_of(maps, 0x3fff), &maps[1]);
    EXPECT_EQ(map_of(maps, 0x4000), nullptr);
    EXPECT_EQ(map_of(maps, 0xfff), nullptr);
    std::mt19937_64 random(9);
    const std::string text =
        "3000-4000 r-xp 00001000 fe:01 12   /a b\n10000 40 Shop::sell(int)\n1000-2000 rwxp 0 0:0 "
        "0\n";
    for (int i = 0; i < 5000; ++i) {
        const std::string damaged = base::mutated(text, 4, random, {});
        (void)map_of(executable_maps(damaged), 0x3100);
        (void)jit_function_of(jit_functions(damaged), 0x10010);
    }
}

}  // namespace
}  // namespace dyetrace::probes
