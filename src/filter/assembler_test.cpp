#include "filter/assembler.h"

#include <gtest/gtest.h>

namespace dyetrace::filter {
namespace {

TEST(Assembler, leaves_out_what_cannot_be_reached) {
    Assembler code;
    const Label end = code.new_label();
    const Label next = code.new_label();
    code.set(Register::k0, 1);
    code.jump(next);  // to where control goes anyway
    code.place(next);
    code.jump_if(BPF_JEQ, Register::k0, 7, end);
    code.jump(end);
    code.set_wide(Register::k1, 1);
    code.place(end);
    code.exit();
    const auto program = std::move(code).finish();
    ASSERT_TRUE(program);
    ASSERT_EQ(program->size(), 3u);
    EXPECT_EQ((*program)[1].code, BPF_JMP | BPF_JEQ | BPF_K);
    EXPECT_EQ((*program)[1].off, 0);
    EXPECT_EQ((*program)[2].code, BPF_JMP | BPF_EXIT);
}

TEST(Assembler, refuses_a_program_that_is_too_long) {
    for (const std::size_t size :
         {Assembler::kInstructionsMax, Assembler::kInstructionsMax + 1, std::size_t{1} << 20}) {
        Assembler code;
        for (std::size_t i = 1; i < size; ++i) {
            code.set(Register::k0, 0);
        }
        code.exit();
        EXPECT_EQ(std::move(code).finish().has_value(), size == Assembler::kInstructionsMax);
    }
}

}  // namespace
}  // namespace dyetrace::filter
