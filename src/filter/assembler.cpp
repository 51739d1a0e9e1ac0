#include "filter/assembler.h"

#include "base/check.h"

namespace dyetrace::filter {
namespace {

std::uint8_t size_bits(unsigned bytes) {
    switch (bytes) {
        case 1:
            return BPF_B;
        case 2:
            return BPF_H;
        case 4:
            return BPF_W;
        default:
            return BPF_DW;
    }
}

std::uint8_t bits(unsigned code) {
    return static_cast<std::uint8_t>(code);
}

}  // namespace

Label Assembler::new_label() {
    labels_.emplace_back();
    return Label{labels_.size() - 1};
}

void Assembler::place(Label label) {
    labels_[static_cast<std::size_t>(label)] = code_.size();
}

void Assembler::set(Register to, std::int32_t value) {
    add(bits(BPF_ALU64 | BPF_MOV | BPF_K), to, Register::k0, 0, value);
}

void Assembler::set(Register to, Register from) {
    add(bits(BPF_ALU64 | BPF_MOV | BPF_X), to, from, 0, 0);
}

void Assembler::set_wide(Register to, std::uint64_t value) {
    add(bits(BPF_LD | BPF_DW | BPF_IMM),
        to,
        Register::k0,
        0,
        static_cast<std::int32_t>(value & 0xffffffffu));
    add(0, Register::k0, Register::k0, 0, static_cast<std::int32_t>(value >> 32));
}

void Assembler::set_map(Register to, int map_fd) {
    add(bits(BPF_LD | BPF_DW | BPF_IMM), to, Register{BPF_PSEUDO_MAP_FD}, 0, map_fd);
    add(0, Register::k0, Register::k0, 0, 0);
}

void Assembler::load(Register to, Register base, std::size_t offset, unsigned bytes) {
    add(bits(BPF_LDX | BPF_MEM | size_bits(bytes)), to, base, static_cast<std::int16_t>(offset), 0);
}

void Assembler::load_frame(Register to, std::ptrdiff_t offset, unsigned bytes) {
    add(bits(BPF_LDX | BPF_MEM | size_bits(bytes)),
        to,
        Register::kFrame,
        static_cast<std::int16_t>(offset),
        0);
}

void Assembler::store(Register base, std::ptrdiff_t offset, Register from, unsigned bytes) {
    add(bits(BPF_STX | BPF_MEM | size_bits(bytes)),
        base,
        from,
        static_cast<std::int16_t>(offset),
        0);
}

void Assembler::calculate(std::uint8_t operation, Register to, std::int32_t value) {
    add(bits(BPF_ALU64 | BPF_K | unsigned{operation}), to, Register::k0, 0, value);
}

void Assembler::calculate(std::uint8_t operation, Register to, Register from) {
    add(bits(BPF_ALU64 | BPF_X | unsigned{operation}), to, from, 0, 0);
}

void Assembler::negate(Register to) {
    add(bits(BPF_ALU64 | BPF_NEG), to, Register::k0, 0, 0);
}

void Assembler::add_atomically(Register base, std::ptrdiff_t offset, Register from) {
    add(bits(BPF_STX | BPF_ATOMIC | BPF_DW),
        base,
        from,
        static_cast<std::int16_t>(offset),
        BPF_ADD | BPF_FETCH);
}

void Assembler::exchange_if_r0(Register base, std::ptrdiff_t offset, Register from) {
    add(bits(BPF_STX | BPF_ATOMIC | BPF_DW),
        base,
        from,
        static_cast<std::int16_t>(offset),
        BPF_CMPXCHG);
}

void Assembler::jump(Label to) {
    add_jump(bits(BPF_JMP | BPF_JA), Register::k0, Register::k0, 0, to);
}

void Assembler::jump_if(std::uint8_t comparison, Register left, std::int32_t right, Label to) {
    add_jump(bits(BPF_JMP | BPF_K | unsigned{comparison}), left, Register::k0, right, to);
}

void Assembler::jump_if(std::uint8_t comparison, Register left, Register right, Label to) {
    add_jump(bits(BPF_JMP | BPF_X | unsigned{comparison}), left, right, 0, to);
}

void Assembler::call(std::int32_t helper) {
    add(bits(BPF_JMP | BPF_CALL), Register::k0, Register::k0, 0, helper);
}

void Assembler::exit() {
    add(bits(BPF_JMP | BPF_EXIT), Register::k0, Register::k0, 0, 0);
}

// The verifier refuses code that cannot be reached.
std::vector<bool> Assembler::reached(const std::vector<std::size_t>& targets) const {
    std::vector<bool> seen(code_.size());
    std::vector<std::size_t> open{0};
    while (!open.empty()) {
        const std::size_t at = open.back();
        open.pop_back();
        if (at >= code_.size() || seen[at]) {
            continue;
        }
        seen[at] = true;
        const std::uint8_t code = code_[at].code;
        const bool wide = code == (BPF_LD | BPF_DW | BPF_IMM);
        if (wide) {
            seen[at + 1] = true;
        }
        if (targets[at] != kNoTarget) {
            open.push_back(targets[at]);
        }
        if (code != (BPF_JMP | BPF_JA) && code != (BPF_JMP | BPF_EXIT)) {
            open.push_back(at + (wide ? 2 : 1));
        }
    }
    return seen;
}

std::optional<std::vector<bpf_insn>> Assembler::finish() && {
    if (code_.size() > kWrittenMax) {
        return std::nullopt;
    }
    std::vector<std::size_t> targets(code_.size(), kNoTarget);
    for (const auto& [at, label] : jumps_) {
        const auto target = labels_[static_cast<std::size_t>(label)];
        CHECK(target && *target > at, "a jump goes forward to a label that is placed");
        targets[at] = *target;
    }
    const std::vector<bool> seen = reached(targets);
    // Counted from the end, so that the place of every target is known: how many instructions are kept from there on.
    std::vector<std::size_t> kept_from(code_.size() + 1);
    std::vector<bpf_insn> backwards;
    for (std::size_t at = code_.size(); at-- > 0;) {
        const bool jump = targets[at] != kNoTarget;
        const std::size_t over = jump ? backwards.size() - kept_from[targets[at]] : 0;
        if (seen[at] && !(code_[at].code == (BPF_JMP | BPF_JA) && over == 0)) {
            backwards.push_back(code_[at]);
            backwards.back().off = jump ? static_cast<std::int16_t>(over) : code_[at].off;
        }
        kept_from[at] = backwards.size();
    }
    if (backwards.size() > kInstructionsMax) {
        return std::nullopt;
    }
    return std::vector<bpf_insn>(backwards.rbegin(), backwards.rend());
}

void Assembler::add(
    std::uint8_t code, Register to, Register from, std::int16_t offset, std::int32_t value) {
    if (code_.size() > kWrittenMax) {
        return;  // finish() says so
    }
    bpf_insn instruction{};
    instruction.code = code;
    instruction.dst_reg = static_cast<std::uint8_t>(to) & 0xfu;
    instruction.src_reg = static_cast<std::uint8_t>(from) & 0xfu;
    instruction.off = offset;
    instruction.imm = value;
    code_.push_back(instruction);
}

void Assembler::add_jump(
    std::uint8_t code, Register left, Register right, std::int32_t value, Label to) {
    jumps_.emplace_back(code_.size(), to);
    add(code, left, right, 0, value);
}

}  // namespace dyetrace::filter
