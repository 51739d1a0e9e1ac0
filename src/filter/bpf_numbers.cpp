#include "filter/bpf_numbers.h"

#include <limits>
#include <utility>

namespace dyetrace::filter {
namespace {

constexpr Register kRight = Register::k4;  // of two columns

constexpr Integer kSignedLeast = std::numeric_limits<std::int64_t>::min();
constexpr Integer kSignedGreatest = std::numeric_limits<std::int64_t>::max();
constexpr Integer kUnsignedGreatest = std::numeric_limits<std::uint64_t>::max();

bool is_signed(Range range) {
    return range.least >= kSignedLeast && range.greatest <= kSignedGreatest;
}
bool is_unsigned(Range range) {
    return range.least >= 0 && range.greatest <= kUnsignedGreatest;
}

// x + 5 > 7 is x > 2: nothing overflows.
void move_constants(Expression& e) {
    while (is_comparison(e.op) && e.operands[1].is_constant() &&
           (e.operands[0].op == Operator::kAdd || e.operands[0].op == Operator::kSubtract) &&
           e.operands[0].operands[1].is_constant()) {
        Expression sum = std::move(e.operands[0]);
        const Integer moved = sum.operands[1].integer();
        const Integer right = e.operands[1].integer();
        e.operands[1] = integer_constant(sum.op == Operator::kAdd ? right - moved : right + moved);
        e.operands[0] = std::move(sum.operands[0]);
    }
}

Operator opposite(Operator op) {
    switch (op) {
        case Operator::kEqual:
            return Operator::kNotEqual;
        case Operator::kNotEqual:
            return Operator::kEqual;
        case Operator::kLess:
            return Operator::kGreaterEqual;
        case Operator::kLessEqual:
            return Operator::kGreater;
        case Operator::kGreater:
            return Operator::kLessEqual;
        default:
            return Operator::kLess;
    }
}

std::uint8_t jump_code(Operator op, bool with_sign) {
    switch (op) {
        case Operator::kEqual:
            return BPF_JEQ;
        case Operator::kNotEqual:
            return BPF_JNE;
        case Operator::kLess:
            return with_sign ? BPF_JSLT : BPF_JLT;
        case Operator::kLessEqual:
            return with_sign ? BPF_JSLE : BPF_JLE;
        case Operator::kGreater:
            return with_sign ? BPF_JSGT : BPF_JGT;
        default:
            return with_sign ? BPF_JSGE : BPF_JGE;
    }
}

}  // namespace

bool BpfNumbers::comparison(Expression e, bool wanted, Ways ways) {
    move_constants(e);
    const Operator op = wanted ? e.op : opposite(e.op);
    const auto left = range_of(e.operands[0]);
    if (!left || (!is_signed(*left) && !is_unsigned(*left))) {
        return false;
    }
    if (e.operands[1].is_constant()) {
        if (!load(e.operands[0], Register::k1, exits_of(ways))) {
            return false;
        }
        compare_constant(op, *left, e.operands[1].integer(), ways);
        return true;
    }
    const auto right = range_of(e.operands[1]);
    if (!right || (!is_signed(*right) && !is_unsigned(*right))) {
        return false;
    }
    // Where only the left one can be loaded, control falls through to the jump of an undecided condition.
    if (!load(e.operands[0], Register::k1, exits_of(ways)) ||
        !load(e.operands[1], Register::k2, exits_of(ways))) {
        return false;
    }
    compare_registers(op, *left, *right, ways);
    return true;
}

void BpfNumbers::compare_constant(Operator op, Range range, Integer constant, Ways ways) {
    if (constant < range.least || constant > range.greatest) {
        const Truth truth = compare(op,
                                    Value::of(constant < range.least ? constant + 1 : constant - 1),
                                    Value::of(constant));
        code_.jump(truth == Truth::kTrue ? ways.may : ways.cannot);
        return;
    }
    const bool with_sign = is_signed(range) && range.least < 0;
    constexpr Integer kSmall = std::numeric_limits<std::int32_t>::max();
    if (constant >= -kSmall && constant <= kSmall) {
        return branch(jump_code(op, with_sign), static_cast<std::int32_t>(constant), ways);
    }
    code_.set_wide(Register::k2, static_cast<std::uint64_t>(constant));
    branch(jump_code(op, with_sign), Register::k2, ways);
}

void BpfNumbers::compare_registers(Operator op, Range left, Range right, Ways ways) {
    const bool with_sign = is_signed(left) && is_signed(right);
    if (!with_sign) {
        // One is beyond the signed numbers; where the other is negative it is the smaller one.
        const bool left_less =
            compare(op, Value::of(Integer{0}), Value::of(Integer{1})) == Truth::kTrue;
        const bool left_greater =
            compare(op, Value::of(Integer{1}), Value::of(Integer{0})) == Truth::kTrue;
        if (left.least < 0) {
            code_.jump_if(BPF_JSLT, Register::k1, 0, left_less ? ways.may : ways.cannot);
        }
        if (right.least < 0) {
            code_.jump_if(BPF_JSLT, Register::k2, 0, left_greater ? ways.may : ways.cannot);
        }
    }
    branch(jump_code(op, with_sign), Register::k2, ways);
}

bool BpfNumbers::in(const Expression& e, bool wanted, Ways ways) {
    const auto range = range_of(e.operands[0]);
    if (!range || (!is_signed(*range) && !is_unsigned(*range)) ||
        !load(e.operands[0], Register::k1, exits_of(ways))) {
        return false;
    }
    bool null = false;
    for (std::size_t i = 1; i < e.operands.size(); ++i) {
        if (e.operands[i].is_null()) {
            null = true;
            continue;
        }
        const Label next = code_.new_label();
        compare_constant(Operator::kEqual,
                         *range,
                         e.operands[i].integer(),
                         {wanted ? ways.may : ways.cannot, next});
        code_.place(next);
    }
    code_.jump(!wanted && !null ? ways.may : ways.cannot);
    return true;
}

// Loads a number, all 64 bits of it; false: the kernel does not have it, and nothing was written.
bool BpfNumbers::load(const Expression& e, Register to, Exits exits) {
    if (is_leaf(e)) {
        return columns_.load(e, to, exits);
    }
    if ((e.op == Operator::kSubtract || e.op == Operator::kAdd) && is_leaf(e.operands[1])) {
        if (!load(e.operands[0], to, exits) || !columns_.load(e.operands[1], kRight, exits)) {
            return false;
        }
        code_.calculate(e.op == Operator::kAdd ? BPF_ADD : BPF_SUB, to, kRight);
        return true;
    }
    if (!is_arithmetic(e.op) || !e.operands[1].is_constant() || e.operands[1].is_null()) {
        return false;
    }
    if (e.op == Operator::kModulo || e.op == Operator::kDivide) {
        return divided(e, to, exits);
    }
    if (e.op == Operator::kPowerOfTwo) {
        return power_of_two(e, to, exits);
    }
    const auto range = range_of(e.operands[0]);
    const bool shift = e.op == Operator::kShiftRight;
    if (shift && (!range || (!is_signed(*range) && !is_unsigned(*range)))) {
        return false;
    }
    if (!load(e.operands[0], to, exits)) {
        return false;
    }
    if (shift) {
        code_.calculate(is_unsigned(*range) ? BPF_RSH : BPF_ARSH,
                        to,
                        static_cast<std::int32_t>(e.operands[1].integer()));
        return true;
    }
    const std::uint8_t operation = e.op == Operator::kAdd        ? BPF_ADD
                                   : e.op == Operator::kSubtract ? BPF_SUB
                                   : e.op == Operator::kMultiply ? BPF_MUL
                                   : e.op == Operator::kBitAnd   ? BPF_AND
                                                                 : BPF_OR;
    code_.set_wide(Register::k3, static_cast<std::uint64_t>(e.operands[1].integer()));
    code_.calculate(operation, to, Register::k3);
    return true;
}

// BPF divides without a sign. A remainder has the sign of what is divided, a quotient has a sign if one of the two has.
bool BpfNumbers::divided(const Expression& e, Register to, Exits exits) {
    const auto range = range_of(e.operands[0]);
    const Integer by = e.operands[1].integer();
    const Integer divisor = by < 0 ? -by : by;
    if (!range || (!is_signed(*range) && !is_unsigned(*range)) || divisor == 0 ||
        divisor > kUnsignedGreatest || !load(e.operands[0], to, exits)) {
        return false;
    }
    const bool is_quotient = e.op == Operator::kDivide;
    const std::uint8_t operation = is_quotient ? BPF_DIV : BPF_MOD;
    const Label positive = code_.new_label();
    const Label done = code_.new_label();
    code_.set_wide(kScratch2, static_cast<std::uint64_t>(divisor));
    if (range->least < 0) {
        code_.jump_if(BPF_JSGE, to, 0, positive);
        code_.negate(to);
        code_.calculate(operation, to, kScratch2);
        if (!is_quotient || by > 0) {
            code_.negate(to);
        }
        code_.jump(done);
    }
    code_.place(positive);
    code_.calculate(operation, to, kScratch2);
    if (is_quotient && by < 0) {
        code_.negate(to);
    }
    code_.place(done);
    return true;
}

// All bits below the highest one are set, and all but that one are taken away.
bool BpfNumbers::power_of_two(const Expression& e, Register to, Exits exits) {
    const auto range = range_of(e.operands[0]);
    if (!range || (!is_signed(*range) && !is_unsigned(*range)) || !load(e.operands[0], to, exits)) {
        return false;
    }
    if (range->least < 0) {
        const Label positive = code_.new_label();
        code_.jump_if(BPF_JSGE, to, 0, positive);
        code_.set(to, 0);
        code_.place(positive);
    }
    for (const std::int32_t shift : {1, 2, 4, 8, 16, 32}) {
        code_.set(kScratch2, to);
        code_.calculate(BPF_RSH, kScratch2, shift);
        code_.calculate(BPF_OR, to, kScratch2);
    }
    code_.set(kScratch2, to);
    code_.calculate(BPF_RSH, kScratch2, 1);
    code_.calculate(BPF_SUB, to, kScratch2);
    return true;
}

}  // namespace dyetrace::filter
