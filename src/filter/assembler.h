// Writes BPF instructions, with labels for jumps forward.
//
//   Assembler code;
//   const Label end = code.new_label();
//   code.jump_if(BPF_JEQ, Register::k0, 7, end);      if (r0 == 7) goto end;
//   code.set(Register::k0, 1);                         r0 = 1;
//   code.place(end);                                   end:
//
// Limits: kInstructionsMax; what does not fit makes finish() return nothing.
#pragma once

#include <linux/bpf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace dyetrace::filter {

enum class Register : std::uint8_t { k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, kFrame };

enum class Label : std::size_t {};

class Assembler {
  public:
    // What every kernel that has BPF takes in one program.
    static constexpr std::size_t kInstructionsMax = 4096;

    Label new_label();
    void place(Label label);

    void set(Register to, std::int32_t value);  // sign-extended
    void set(Register to, Register from);
    void set_wide(Register to, std::uint64_t value);
    void set_map(Register to, int map_fd);

    // `bytes` is 1, 2, 4 or 8; zero-extended.
    void load(Register to, Register base, std::size_t offset, unsigned bytes);
    // Loads from the stack, at so many bytes, below 0, from the frame's end.
    void load_frame(Register to, std::ptrdiff_t offset, unsigned bytes);
    void store(Register base, std::ptrdiff_t offset, Register from, unsigned bytes);

    void calculate(std::uint8_t operation,
                   Register to,
                   std::int32_t value);  // BPF_ADD, …; sign-extended
    void calculate(std::uint8_t operation, Register to, Register from);
    void negate(Register to);

    // 64 bits of memory, whoever else writes them: `from` becomes what was there, and is added.
    void add_atomically(Register base, std::ptrdiff_t offset, Register from);
    // `from` is put there if it is r0 that is there; r0 becomes what was there.
    void exchange_if_r0(Register base, std::ptrdiff_t offset, Register from);

    void jump(Label to);
    void jump_if(std::uint8_t comparison,
                 Register left,
                 std::int32_t right,
                 Label to);  // sign-extended
    void jump_if(std::uint8_t comparison, Register left, Register right, Label to);

    void call(std::int32_t helper);
    void exit();

    std::size_t size() const { return code_.size(); }

    // The program without what cannot be reached; nothing if it is too long. All labels are placed.
    std::optional<std::vector<bpf_insn>> finish() &&;

  private:
    static constexpr std::size_t kWrittenMax = 4 * kInstructionsMax;
    static constexpr std::size_t kNoTarget = static_cast<std::size_t>(-1);

    std::vector<bool> reached(const std::vector<std::size_t>& targets) const;
    void add(
        std::uint8_t code, Register to, Register from, std::int16_t offset, std::int32_t value);
    void add_jump(std::uint8_t code, Register left, Register right, std::int32_t value, Label to);

    std::vector<bpf_insn> code_;
    std::vector<std::optional<std::size_t>> labels_;
    std::vector<std::pair<std::size_t, Label>> jumps_;
};

}  // namespace dyetrace::filter
