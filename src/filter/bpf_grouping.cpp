#include "filter/bpf_grouping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "filter/bpf_conditions.h"
#include "filter/bpf_frame.h"
#include "filter/bpf_numbers.h"
#include "filter/simplify.h"
#include "filter/sql_text.h"
#include "schema/text.h"

namespace dyetrace::filter {
namespace {

constexpr std::size_t kWord = 8;
constexpr std::size_t kNameBytes = 16;

// Bytes of an aggregate in a group's value.
std::size_t size_of(AggregateKind kind) {
    switch (kind) {
        case AggregateKind::kCount:
            return kWord;
        case AggregateKind::kSum:
            return 3 * kWord;
        default:
            return 2 * kWord;
    }
}

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t offset) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + offset, sizeof(word));
    return word;
}

// Whether BPF can load it: tried on a program that nobody runs.
template <typename Load>
bool can(Load&& load) {
    Assembler code;
    BpfColumns columns(code, 0);
    const Exits exits{code.new_label(), code.new_label()};
    return load(code, columns, exits);
}

Integer number_of(std::uint64_t word, bool is_signed) {
    return is_signed ? Integer{static_cast<std::int64_t>(word)} : Integer{word};
}

}  // namespace

Result<BpfGrouping::Part> BpfGrouping::part_of(const Expression& expression,
                                               const std::string& host) {
    Part part{.expression = simplified(with_known_columns(expression, {.host = host}))};
    const Expression& e = part.expression;
    if (e.is_constant()) {
        return part;
    }
    const auto range = e.type == Type::kText ? std::nullopt : range_of(e);
    const bool fits_signed = range && range->least >= std::numeric_limits<std::int64_t>::min() &&
                             range->greatest <= std::numeric_limits<std::int64_t>::max();
    const bool fits_unsigned =
        range && range->least >= 0 && range->greatest <= std::numeric_limits<std::uint64_t>::max();
    if ((fits_signed || fits_unsigned) &&
        can([&](Assembler& code, BpfColumns& columns, Exits exits) {
            return BpfNumbers(code, columns).load(e, Register::k1, exits);
        })) {
        part.form = Form::kNumber;
        part.is_signed = range->least < 0;
        return part;
    }
    if (e.op == Operator::kColumn) {
        part.names = names_of(e.column);
    }
    if (!part.names.empty()) {
        part.form = Form::kName;
        return part;
    }
    if (e.op == Operator::kColumn && can([&](Assembler&, BpfColumns& columns, Exits exits) {
            return columns.copy_name(e.column, -16, exits);
        })) {
        part.form = Form::kBytes;
        return part;
    }
    return Error(ErrorCode::kUnsupported,
                 fmt::format("{} is not known in the kernel", sql_text(expression)));
}

Result<BpfGrouping> BpfGrouping::of(const Grouping& grouping, const std::string& host) {
    BpfGrouping made;
    made.where_ = grouping.where;
    if (grouping.aggregates.size() > kGroupAggregatesMax) {
        return Error(
            ErrorCode::kUnsupported,
            fmt::format("the kernel counts at most {} aggregates at once", kGroupAggregatesMax));
    }
    for (const Expression& key : grouping.keys) {
        TRY(Part part, part_of(key, host));
        part.offset = made.key_bytes_;
        made.key_bytes_ += part.form == Form::kConstant ? 0
                           : part.form == Form::kBytes  ? kNameBytes
                                                        : kWord;
        made.keys_.push_back(std::move(part));
    }
    if (made.key_bytes_ > kWord + kGroupKeysMax * kWord) {
        return Error(ErrorCode::kUnsupported,
                     fmt::format("the kernel groups by at most {} numbers", kGroupKeysMax));
    }
    for (const Aggregate& aggregate : grouping.aggregates) {
        TRY(Part part, part_of(aggregate.argument, host));
        const bool is_counted = aggregate.kind == AggregateKind::kCount;
        if (is_counted ? part.form == Form::kBytes : part.form != Form::kNumber) {
            return Error(ErrorCode::kUnsupported,
                         fmt::format("the kernel cannot add up {}", sql_text(aggregate.argument)));
        }
        part.kind = aggregate.kind;
        part.offset = made.value_bytes_;
        made.value_bytes_ += size_of(aggregate.kind);
        made.aggregates_.push_back(std::move(part));
    }
    made.value_bytes_ = std::max(made.value_bytes_, kWord);
    return made;
}

GroupKey BpfGrouping::key(std::span<const std::byte> bytes) const {
    GroupKey key;
    const std::uint64_t nulls = word_at(bytes, 0);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
        const Part& part = keys_[i];
        Constant value;
        if (part.form == Form::kConstant) {
            value = part.expression.constant;
        } else if ((nulls >> i & 1) == 0 && part.form == Form::kNumber) {
            value = number_of(word_at(bytes, part.offset), part.is_signed);
        } else if ((nulls >> i & 1) == 0 && part.form == Form::kBytes) {
            const char* const text = reinterpret_cast<const char*>(bytes.data() + part.offset);
            value = schema::escaped({text, strnlen(text, kNameBytes)});
        } else if ((nulls >> i & 1) == 0) {
            const std::uint64_t number = word_at(bytes, part.offset);
            for (const NamedNumber& named : part.names) {
                if (named.number == number) {
                    value = std::string(named.name);
                }
            }
        }
        key.push_back(std::move(value));
    }
    return key;
}

std::vector<Partial> BpfGrouping::partials(std::span<const std::byte> bytes) const {
    std::vector<Partial> partials;
    for (const Part& part : aggregates_) {
        Partial partial{.count = word_at(bytes, part.offset)};
        if (part.kind == AggregateKind::kSum) {
            const Integer high{static_cast<std::int64_t>(word_at(bytes, part.offset + 2 * kWord))};
            partial.value = high * (Integer{1} << 64) + word_at(bytes, part.offset + kWord);
        } else if (part.kind != AggregateKind::kCount) {
            partial.value = number_of(word_at(bytes, part.offset + kWord), part.is_signed);
        }
        partials.push_back(partial);
    }
    return partials;
}

// The stack, downwards from the frame's end:
//
//   -4 a zero   -16 which arguments are NULL   then the arguments, and the key at the bottom
class BpfGrouping::Writer {
  public:
    Writer(const BpfGrouping& grouping, const BpfLayout& layout, const BpfGroupTargets& targets)
        : grouping_(grouping),
          layout_(layout),
          targets_(targets),
          columns_(code_, layout.host_index) {}

    std::optional<std::vector<bpf_insn>> program(StringAtoms& atoms) && {
        const Label is_selected = code_.new_label(), is_not = code_.new_label();
        begin_program(code_, layout_);
        BpfConditions conditions(code_, columns_, atoms, false);
        conditions.condition(simplified_condition(with_known_columns(grouping_.where_.expression(),
                                                                     {.host = layout_.host})),
                             true,
                             {is_selected, is_not, pass_});
        code_.place(is_selected);
        store_zeros();
        build_key();
        load_arguments(conditions);
        find_group();
        for (std::size_t i = 0; i < grouping_.aggregates_.size(); ++i) {
            add_up(i);
        }
        leave_program(code_, layout_, targets_.counted_index, 2);
        code_.place(pass_);
        leave_program(code_, layout_, layout_.passed_index, 1);
        code_.place(is_not);
        leave_program(code_, layout_, layout_.dropped_index, 0);
        return std::move(code_).finish();
    }

  private:
    static constexpr std::ptrdiff_t kZero = -4, kNulls = -16;
    static constexpr Register kGroup = Register::k7;

    std::ptrdiff_t argument_at(std::size_t i) const {
        return kNulls - static_cast<std::ptrdiff_t>((i + 1) * kWord);
    }
    std::ptrdiff_t key_at() const {
        return argument_at(grouping_.aggregates_.size()) + static_cast<std::ptrdiff_t>(kWord) -
               static_cast<std::ptrdiff_t>(grouping_.key_bytes_);
    }

    // All of it, for a verifier that does not know that what is NULL is not read.
    void store_zeros() {
        code_.set(Register::k1, 0);
        for (std::ptrdiff_t at = key_at(); at <= kNulls; at += static_cast<std::ptrdiff_t>(kWord)) {
            code_.store(Register::kFrame, at, Register::k1, 8);
        }
    }

    void set_bit(std::ptrdiff_t word, std::size_t bit) {
        code_.load_frame(Register::k1, word, 8);
        code_.calculate(BPF_OR, Register::k1, std::int32_t{1} << bit);
        code_.store(Register::kFrame, word, Register::k1, 8);
    }

    // Puts the value at a place of the frame, or sets its bit.
    void put(const Part& part, std::ptrdiff_t place, std::ptrdiff_t nulls, std::size_t bit) {
        const Label null = code_.new_label(), done = code_.new_label();
        const Exits exits{.null = null, .undecided = pass_};
        if (part.form == Form::kBytes) {
            columns_.copy_name(part.expression.column, place, exits);
        } else {
            if (part.form == Form::kName) {
                columns_.load_named(part.expression.column, Register::k1, exits);
            } else {
                BpfNumbers(code_, columns_).load(part.expression, Register::k1, exits);
            }
            code_.store(Register::kFrame, place, Register::k1, 8);
        }
        code_.jump(done);
        code_.place(null);
        set_bit(nulls, bit);
        code_.place(done);
    }

    void build_key() {
        for (std::size_t i = 0; i < grouping_.keys_.size(); ++i) {
            const Part& part = grouping_.keys_[i];
            if (part.form != Form::kConstant) {
                put(part, key_at() + static_cast<std::ptrdiff_t>(part.offset), key_at(), i);
            }
        }
    }

    void load_arguments(BpfConditions& conditions) {
        for (std::size_t i = 0; i < grouping_.aggregates_.size(); ++i) {
            const Part& part = grouping_.aggregates_[i];
            if (part.form == Form::kNumber) {
                put(part, argument_at(i), kNulls, i);
            } else if (part.form != Form::kConstant) {
                test_text(part, i, conditions);
            } else if (part.expression.is_null()) {
                set_bit(kNulls, i);
            }
        }
    }

    // Whether text is NULL is all that its count needs.
    void test_text(const Part& part, std::size_t i, BpfConditions& conditions) {
        const Label null = code_.new_label(), is_there = code_.new_label();
        conditions.condition(
            condition(Operator::kIsNull, {part.expression}), true, {null, is_there, pass_});
        code_.place(null);
        set_bit(kNulls, i);
        code_.place(is_there);
    }

    // Into kGroup: the one that is there, or a new one.
    void find_group() {
        const Label found = code_.new_label();
        look_up();
        code_.jump_if(BPF_JNE, Register::k0, 0, found);
        code_.set(Register::k1, 0);
        code_.store(Register::kFrame, kZero, Register::k1, 4);
        code_.set(Register::k2, Register::kFrame);
        code_.calculate(BPF_ADD, Register::k2, static_cast<std::int32_t>(kZero));
        code_.set_map(Register::k1, targets_.blank_map_fd);
        code_.call(BPF_FUNC_map_lookup_elem);
        code_.jump_if(BPF_JEQ, Register::k0, 0, pass_);
        code_.set(Register::k3, Register::k0);
        point_to_key();
        code_.set(Register::k4, BPF_NOEXIST);
        code_.call(BPF_FUNC_map_update_elem);
        look_up();
        code_.jump_if(BPF_JEQ, Register::k0, 0, pass_);
        code_.place(found);
        code_.set(kGroup, Register::k0);
    }

    void point_to_key() {
        code_.set(Register::k2, Register::kFrame);
        code_.calculate(BPF_ADD, Register::k2, static_cast<std::int32_t>(key_at()));
        code_.set_map(Register::k1, targets_.groups_map_fd);
    }

    void look_up() {
        point_to_key();
        code_.call(BPF_FUNC_map_lookup_elem);
    }

    void add_up(std::size_t i) {
        const Part& part = grouping_.aggregates_[i];
        const Label done = code_.new_label();
        code_.load_frame(Register::k1, kNulls, 8);
        code_.calculate(BPF_AND, Register::k1, std::int32_t{1} << i);
        code_.jump_if(BPF_JNE, Register::k1, 0, done);
        code_.load(Register::k3, kGroup, part.offset, 8);  // the count as it was
        code_.set(Register::k1, Register::k3);
        code_.calculate(BPF_ADD, Register::k1, 1);
        code_.store(kGroup, static_cast<std::ptrdiff_t>(part.offset), Register::k1, 8);
        const auto value_at = static_cast<std::ptrdiff_t>(part.offset + kWord);
        if (part.kind == AggregateKind::kSum) {
            add_to_sum(part, i, value_at);
        } else if (part.kind != AggregateKind::kCount) {
            const Label is_new = code_.new_label();
            code_.load_frame(Register::k1, argument_at(i), 8);
            code_.jump_if(BPF_JEQ, Register::k3, 0, is_new);
            code_.load(Register::k2, kGroup, part.offset + kWord, 8);
            const bool is_least = part.kind == AggregateKind::kLeast;
            const std::uint8_t keeps =
                part.is_signed ? (is_least ? BPF_JSGE : BPF_JSLE) : (is_least ? BPF_JGE : BPF_JLE);
            code_.jump_if(keeps, Register::k1, Register::k2, done);
            code_.place(is_new);
            code_.store(kGroup, value_at, Register::k1, 8);
        }
        code_.place(done);
    }

    // 128 bits: the low half carries into the high one, which takes the sign.
    void add_to_sum(const Part& part, std::size_t i, std::ptrdiff_t low_at) {
        const Label no_carry = code_.new_label();
        const std::ptrdiff_t high_at = low_at + static_cast<std::ptrdiff_t>(kWord);
        code_.load_frame(Register::k1, argument_at(i), 8);
        code_.load(Register::k2, kGroup, static_cast<std::size_t>(low_at), 8);
        code_.load(Register::k3, kGroup, static_cast<std::size_t>(high_at), 8);
        code_.calculate(BPF_ADD, Register::k2, Register::k1);
        code_.store(kGroup, low_at, Register::k2, 8);
        code_.jump_if(BPF_JGE, Register::k2, Register::k1, no_carry);
        code_.calculate(BPF_ADD, Register::k3, 1);
        code_.place(no_carry);
        if (part.is_signed) {
            code_.calculate(BPF_ARSH, Register::k1, 63);
            code_.calculate(BPF_ADD, Register::k3, Register::k1);
        }
        code_.store(kGroup, high_at, Register::k3, 8);
    }

    const BpfGrouping& grouping_;
    const BpfLayout& layout_;
    const BpfGroupTargets& targets_;
    Assembler code_;
    BpfColumns columns_;
    const Label pass_ = code_.new_label();
};

std::optional<std::vector<bpf_insn>> BpfGrouping::program(const BpfLayout& layout,
                                                          const BpfGroupTargets& targets,
                                                          StringAtoms& atoms) const {
    return Writer(*this, layout, targets).program(atoms);
}

}  // namespace dyetrace::filter
