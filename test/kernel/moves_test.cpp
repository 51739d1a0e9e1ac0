// That every system call has an answer to the question which bytes it can move (src/schema/moves.toml).
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "capture/blind_spots.h"
#include "schema/syscalls.h"

namespace dyetrace::test {
namespace {

// Names of the kernel's own functions that are not those of the calls.
const std::map<std::string, std::string> kCalled = {{"newstat", "stat"},
                                                    {"newfstat", "fstat"},
                                                    {"newlstat", "lstat"},
                                                    {"newuname", "uname"},
                                                    {"llseek", "_llseek"},
                                                    {"mmap_pgoff", "mmap2"},
                                                    {"ia32_sync_file_range", "sync_file_range"}};

// The kernel names them on every machine, though these have them not.
const std::set<std::string> kOfOtherMachines = {"ni_syscall",
                                                "gethostname",
                                                "send",
                                                "recv",
                                                "pciconfig_iobase",
                                                "pciconfig_read",
                                                "pciconfig_write",
                                                "rtas",
                                                "s390_ipc",
                                                "s390_pci_mmio_read",
                                                "s390_pci_mmio_write",
                                                "spu_create",
                                                "spu_run",
                                                "subpage_prot",
                                                "sync_file_range2"};

bool has_answer(const std::string& name) {
    return std::any_of(
        schema::syscalls().begin(), schema::syscalls().end(), [&](const schema::SyscallInfo& call) {
            return call.name == name && !call.moves.empty();
        });
}

// A name stands for the call itself or for one of another age or width: old_readdir, chown16, ppoll_time32, ia32_pread64.
bool is_known(const std::string& name) {
    static const std::regex kPrefix("^(ia32_|old_|old)"), kSuffix("(_time32|32|16)$");
    if (kOfOtherMachines.contains(name)) {
        return true;
    }
    if (const auto called = kCalled.find(name); called != kCalled.end()) {
        return has_answer(called->second);
    }
    const std::string newer = std::regex_replace(name, kPrefix, "");
    return has_answer(name) || has_answer(newer) ||
           has_answer(std::regex_replace(newer, kSuffix, ""));
}

TEST(Moves, every_call_of_this_kernel_has_an_answer) {
    static const std::regex kCall(".* (?:__x64_sys_|__ia32_sys_)([a-z0-9_]+)");
    std::ifstream symbols("/proc/kallsyms");
    std::set<std::string> names;
    std::smatch found;
    for (std::string line; std::getline(symbols, line);) {
        if (line.find("_sys_") != std::string::npos && std::regex_match(line, found, kCall)) {
            names.insert(found[1]);
        }
    }
    if (names.empty()) {
        GTEST_SKIP() << "/proc/kallsyms names no system call";
    }
    EXPECT_GT(names.size(), 300u);
    for (const std::string& name : names) {
        EXPECT_TRUE(is_known(name)) << name << ": say in src/schema/moves.toml what it moves";
    }
}

TEST(Moves, an_answer_is_told_from_none) {
    EXPECT_TRUE(is_known("read") && is_known("newstat") && is_known("ia32_pread64"));
    EXPECT_FALSE(is_known("teleport"));
    EXPECT_FALSE(is_known("16"));
}

TEST(Moves, what_no_program_sees_is_said_in_each_trace) {
    const std::vector<capture::BlindSpot> spots = capture::blind_spots();
    for (const std::string_view name : schema::never_seen()) {
        EXPECT_TRUE(std::any_of(spots.begin(), spots.end(), [&](const capture::BlindSpot& spot) {
            return spot.name == name;
        })) << name;
    }
}

TEST(Moves, a_call_with_bytes_is_seen) {
    for (const schema::SyscallInfo& call : schema::syscalls()) {
        EXPECT_TRUE(call.transfer.empty() || call.moves == "seen") << call.name;
        const auto groups = schema::unseen_bytes();
        EXPECT_TRUE(call.moves == "seen" || call.moves == "nothing" ||
                    std::any_of(groups.begin(),
                                groups.end(),
                                [&](const auto& group) { return group.name == call.moves; }) ||
                    std::find(schema::never_seen().begin(),
                              schema::never_seen().end(),
                              call.moves) != schema::never_seen().end())
            << call.name;
    }
}

}  // namespace
}  // namespace dyetrace::test
