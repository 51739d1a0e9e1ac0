#include "probes/usdt_arguments.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "base/random_bytes.h"

namespace dyetrace::probes {
namespace {

std::string said(const ProbeValue& value) {
    std::string text = value.start == ValueStart::kConstant ? fmt::format("{}", value.number)
                                                            : fmt::format("reg {}", value.number);
    for (const std::int64_t hop : value.hops) text += fmt::format(" hop {}", hop);
    if (value.bits != 0) text += fmt::format(" bits {}+{}", value.bit_offset, value.bits);
    return text + fmt::format(": {}{}{}",
                              value.type,
                              value.is_in_user_memory ? " of memory" : "",
                              value.form == ValueForm::kInteger ? "" : "?");
}

// A line for each argument, in their order.
std::string said(std::string_view text, Machine machine) {
    const MarkArguments arguments = mark_arguments(text, machine);
    std::string lines;
    for (const NamedValue& each : arguments.values)
        lines += each.name + " " + said(each.value) + "\n";
    for (const LeftOutValue& each : arguments.left_out)
        lines += each.name + " refused: " + each.reason + "\n";
    return lines;
}

TEST(UsdtArguments, reads_operands_of_x86_64) {
    EXPECT_EQ(said("-4@%eax 8@-8(%rbp) 8@$5 -2@(%r13) 1@%r9b 1@$-1", Machine::kX86_64),
              "arg0 reg 80: int32_t\n"
              "arg1 reg 32 hop -8: uint64_t of memory\n"
              "arg2 5: uint64_t\n"
              "arg3 reg 16 hop 0: int16_t of memory\n"
              "arg4 reg 64: uint8_t\n"
              "arg5 -1: uint8_t\n");
}

TEST(UsdtArguments, reads_operands_of_arm64) {
    EXPECT_EQ(said("-4@[sp, 12] 8@x0 -4@w1 8@[x19] 4@5 -8@-1 8@xzr 8@[x29, #-16]", Machine::kArm64),
              "arg0 reg 248 hop 12: int32_t of memory\n"
              "arg1 reg 0: uint64_t\n"
              "arg2 reg 8: int32_t\n"
              "arg3 reg 152 hop 0: uint64_t of memory\n"
              "arg4 5: uint32_t\n"
              "arg5 -1: int64_t\n"
              "arg6 0: uint64_t\n"
              "arg7 reg 232 hop -16: uint64_t of memory\n");
}

TEST(UsdtArguments, the_second_byte_of_a_register_is_a_bit_field) {
    EXPECT_EQ(said("1@%ah 1@%dil", Machine::kX86_64),
              "arg0 reg 80 bits 8+8: uint8_t\narg1 reg 112: uint8_t\n");
}

TEST(UsdtArguments, refuses_what_cannot_be_read_and_says_why) {
    EXPECT_EQ(said("-8@16(%rsp,%rax,8) 4@global(%rip) 8f@%xmm0 8@%xmm1 8@$name 8@%fs:16 %rax "
                   "3@%rax 8@%r16 8@(%eax)",
                   Machine::kX86_64),
              "arg0 refused: its address is the sum of two registers\n"
              "arg1 refused: 'global(%rip)' is only a linker's name\n"
              "arg2 refused: it is a number of floating point\n"
              "arg3 refused: it is in a register of floating point\n"
              "arg4 refused: 'name' is only a linker's name\n"
              "arg5 refused: it is in the memory of a thread\n"
              "arg6 refused: its size is ''\n"
              "arg7 refused: its size is '3'\n"
              "arg8 refused: it is in 'r16', which is no register that can be read\n"
              "arg9 refused: its address is in 'eax', which is no register of addresses\n");
    EXPECT_EQ(said("8@[x1, x2] 4@[x0, :lo12:name] 8@d0 8@[x0]! 8@x31", Machine::kArm64),
              "arg0 refused: its address is the sum of two registers\n"
              "arg1 refused: '[x0, :lo12:name]' is only a linker's name\n"
              "arg2 refused: it is in a register of floating point\n"
              "arg3 refused: '[x0]!' changes its register\n"
              "arg4 refused: it is in 'x31', which is no register that can be read\n");
}

TEST(UsdtArguments, every_register_of_arm64_has_its_place) {
    for (int i = 0; i <= 30; ++i) {
        EXPECT_EQ(said(fmt::format("8@x{}", i), Machine::kArm64),
                  fmt::format("arg0 reg {}: uint64_t\n", 8 * i));
    }
}

// The offsets are of struct pt_regs in the kernel's arch/x86/include/asm/ptrace.h.
TEST(UsdtArguments, every_register_of_x86_64_has_its_place) {
    const std::vector<std::pair<std::string, int>> places = {{"r15", 0},
                                                             {"r14", 8},
                                                             {"r13", 16},
                                                             {"r12", 24},
                                                             {"rbp", 32},
                                                             {"rbx", 40},
                                                             {"r11", 48},
                                                             {"r10", 56},
                                                             {"r9", 64},
                                                             {"r8", 72},
                                                             {"rax", 80},
                                                             {"rcx", 88},
                                                             {"rdx", 96},
                                                             {"rsi", 104},
                                                             {"rdi", 112},
                                                             {"rip", 128},
                                                             {"rsp", 152}};
    for (const auto& [name, place] : places) {
        EXPECT_EQ(said("8@%" + name, Machine::kX86_64),
                  fmt::format("arg0 reg {}: uint64_t\n", place));
    }
}

TEST(UsdtArguments, takes_no_more_than_it_says) {
    std::string many;
    for (int i = 0; i < 100; ++i) many += "8@$1 ";
    EXPECT_EQ(mark_arguments(many, Machine::kX86_64).values.size(), kMarkArgumentsMax);
}

TEST(UsdtArguments, any_letters_are_read_or_refused) {
    std::mt19937_64 random(7);
    const std::string text =
        "-4@%eax 8@-8(%rbp) 8@$5 -8@16(%rsp,%rax,8) -4@[sp, 12] 8@x0 4@global(%rip)";
    for (int i = 0; i < 5000; ++i) {
        const std::string damaged = base::mutated(text, 4, random, {});
        for (const Machine machine : {Machine::kX86_64, Machine::kArm64}) {
            const MarkArguments arguments = mark_arguments(damaged, machine);
            EXPECT_LE(arguments.values.size() + arguments.left_out.size(), kMarkArgumentsMax);
        }
    }
}

}  // namespace
}  // namespace dyetrace::probes
