#include "filter/bpf_grouping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "filter/bpf_columns.h"
#include "filter/bpf_conditions.h"
#include "filter/bpf_frame.h"
#include "filter/bpf_numbers.h"
#include "filter/bpf_row.h"
#include "filter/simplify.h"
#include "filter/sql_text.h"
#include "schema/text.h"

namespace dyetrace::filter {
namespace {

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

bool has_fields(const Expression& e) {
    return e.op == Operator::kField ||
           std::any_of(e.operands.begin(), e.operands.end(), has_fields);
}

// Whether BPF can load it: tried on a program that nobody runs.
bool can_load(const Expression& e) {
    Assembler code;
    BpfColumns columns(code, 0);
    BpfRow row(code, 0);
    BpfSource& source = has_fields(e) ? static_cast<BpfSource&>(row) : columns;
    return BpfNumbers(code, source).load(e, Register::k1, {code.new_label(), code.new_label()});
}

// What makes numbers ascend without a sign as the values do, or descend for the least.
std::uint64_t flipped_bits(AggregateKind kind, bool is_signed) {
    const std::uint64_t sign = is_signed ? std::uint64_t{1} << 63 : 0;
    return kind == AggregateKind::kLeast ? ~sign : sign;
}

Integer number_of(std::uint64_t word, bool is_signed) {
    return is_signed ? Integer{static_cast<std::int64_t>(word)} : Integer{word};
}

}  // namespace

Result<BpfGrouping::Part> BpfGrouping::part_of(const Expression& expression,
                                               const BpfSource& source) {
    const bool is_truth = is_condition(expression);
    Part part{.expression = is_truth ? simplified_condition(expression) : simplified(expression)};
    const Expression& e = part.expression;
    if (e.is_constant()) {
        if (e.type == Type::kBoolean) {
            part.expression = integer_constant(e.is_true() ? 1 : 0);
        }
        return part;
    }
    if (is_truth) {
        part.form = Form::kTruth;
        return part;
    }
    const auto range = e.type == Type::kText ? std::nullopt : range_of(e);
    const bool fits_signed = range && range->least >= std::numeric_limits<std::int64_t>::min() &&
                             range->greatest <= std::numeric_limits<std::int64_t>::max();
    const bool fits_unsigned =
        range && range->least >= 0 && range->greatest <= std::numeric_limits<std::uint64_t>::max();
    if ((fits_signed || fits_unsigned) && can_load(e)) {
        part.form = Form::kNumber;
        part.is_signed = range->least < 0;
        return part;
    }
    if (is_leaf(e)) {
        part.names = source.names_of(e);
        part.bytes = source.text_bytes(e);
    }
    if (!part.names.empty()) {
        part.form = Form::kName;
        return part;
    }
    if (part.bytes > 0) {
        part.form = Form::kBytes;
        return part;
    }
    if (e.op == Operator::kField && e.field->is_stack) {
        part.form = Form::kNumber;
        return part;
    }
    return Error(ErrorCode::kUnsupported,
                 fmt::format("{} is not known in the kernel", sql_text(expression)));
}

Result<BpfGrouping> BpfGrouping::of(const Grouping& grouping, const std::string& host) {
    Grouping known = grouping;
    const KnownColumns columns{.host = host};
    for (Expression& key : known.keys) {
        key = with_known_columns(std::move(key), columns);
    }
    for (Aggregate& aggregate : known.aggregates) {
        aggregate.argument = with_known_columns(std::move(aggregate.argument), columns);
    }
    BpfGrouping made;
    made.where_ = simplified_condition(with_known_columns(grouping.where.expression(), columns));
    Assembler unused;
    TRY(made.add_parts(known, BpfColumns(unused, 0)));
    return made;
}

Result<BpfGrouping> BpfGrouping::of_rows(const Grouping& grouping) {
    BpfGrouping made;
    made.where_ = grouping.where.expression();
    Assembler unused;
    TRY(made.add_parts(grouping, BpfRow(unused, 0)));
    return made;
}

Result<void> BpfGrouping::add_parts(const Grouping& grouping, const BpfSource& source) {
    if (grouping.aggregates.size() > kGroupAggregatesMax) {
        return Error(
            ErrorCode::kUnsupported,
            fmt::format("the kernel counts at most {} aggregates at once", kGroupAggregatesMax));
    }
    for (const Expression& key : grouping.keys) {
        TRY(Part part, part_of(key, source));
        part.offset = key_bytes_;
        key_bytes_ += part.form == Form::kConstant ? 0
                      : part.form == Form::kBytes  ? part.bytes
                                                   : kWord;
        keys_.push_back(std::move(part));
    }
    for (const Aggregate& aggregate : grouping.aggregates) {
        TRY(Part part, part_of(aggregate.argument, source));
        const bool is_counted = aggregate.kind == AggregateKind::kCount;
        if (!is_counted && part.form != Form::kNumber) {
            return Error(ErrorCode::kUnsupported,
                         fmt::format("the kernel cannot add up {}", sql_text(aggregate.argument)));
        }
        part.kind = aggregate.kind;
        part.offset = value_bytes_;
        value_bytes_ += size_of(aggregate.kind);
        aggregates_.push_back(std::move(part));
    }
    value_bytes_ = std::max(value_bytes_, kWord);
    if (2 * kWord + aggregates_.size() * kWord + key_bytes_ > kGroupingStackBytes) {
        return Error(
            ErrorCode::kUnsupported,
            fmt::format("keys and aggregates take more than {} bytes of the kernel's stack",
                        kGroupingStackBytes));
    }
    return {};
}

GroupKey BpfGrouping::key(std::span<const std::byte> bytes) const {
    GroupKey key;
    const std::uint64_t nulls = word_at(bytes, 0);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
        const Part& part = keys_[i];
        Constant value;
        if (part.form == Form::kConstant) {
            value = part.expression.constant;
        } else if (part.form == Form::kTruth) {
            value = Integer{word_at(bytes, part.offset)};
        } else if ((nulls >> i & 1) == 0 && part.form == Form::kNumber) {
            value = number_of(word_at(bytes, part.offset), part.is_signed);
        } else if ((nulls >> i & 1) == 0 && part.form == Form::kBytes) {
            const char* const text = reinterpret_cast<const char*>(bytes.data() + part.offset);
            value = schema::escaped({text, strnlen(text, part.bytes)});
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
            const std::uint64_t word =
                word_at(bytes, part.offset + kWord) ^ flipped_bits(part.kind, part.is_signed);
            partial.value = number_of(word, part.is_signed);
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
    Writer(const BpfGrouping& grouping,
           Assembler& code,
           BpfSource& source,
           const BpfGroupTargets& targets,
           Label pass)
        : grouping_(grouping), targets_(targets), code_(code), source_(source), pass_(pass) {}

    // Control goes on after it with what was counted.
    void count(StringAtoms& atoms, Label is_not_selected) {
        const Label is_selected = code_.new_label();
        BpfConditions conditions(code_, source_, atoms, false);
        conditions.condition(grouping_.where_, true, {is_selected, is_not_selected, pass_});
        code_.place(is_selected);
        store_zeros();
        build_key(conditions);
        load_arguments(conditions);
        find_group();
        for (std::size_t i = 0; i < grouping_.aggregates_.size(); ++i) {
            add_up(i);
        }
    }

  private:
    static constexpr std::ptrdiff_t kZero = -4, kNulls = -16;
    static constexpr Register kGroup = Register::k7;
    static constexpr Register kTable = Register::k9;  // of a row, which needs no kInput

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
            source_.copy_text(part.expression, place, exits);
        } else {
            if (part.form == Form::kName) {
                source_.load_named(part.expression, Register::k1, exits);
            } else {
                BpfNumbers(code_, source_).load(part.expression, Register::k1, exits);
            }
            code_.store(Register::kFrame, place, Register::k1, 8);
        }
        code_.jump(done);
        code_.place(null);
        set_bit(nulls, bit);
        code_.place(done);
    }

    void build_key(BpfConditions& conditions) {
        for (std::size_t i = 0; i < grouping_.keys_.size(); ++i) {
            const Part& part = grouping_.keys_[i];
            const std::ptrdiff_t place = key_at() + static_cast<std::ptrdiff_t>(part.offset);
            if (part.form == Form::kTruth) {
                put_truth(part, place, conditions);
            } else if (part.form != Form::kConstant) {
                put(part, place, key_at(), i);
            }
        }
    }

    // Where it does not hold, there is a zero already.
    void put_truth(const Part& part, std::ptrdiff_t place, BpfConditions& conditions) {
        const Label holds = code_.new_label(), does_not = code_.new_label();
        conditions.condition(part.expression, true, {holds, does_not, pass_});
        code_.place(holds);
        code_.set(Register::k1, 1);
        code_.store(Register::kFrame, place, Register::k1, 8);
        code_.place(does_not);
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
        find_table();
        look_up();
        code_.jump_if(BPF_JNE, Register::k0, 0, found);
        code_.set(Register::k1, 0);
        code_.store(Register::kFrame, kZero, Register::k1, 4);
        look_up_first(targets_.blank_map_fd);
        code_.set(Register::k3, Register::k0);
        point_to_key();
        code_.set(Register::k4, BPF_NOEXIST);
        code_.call(BPF_FUNC_map_update_elem);
        look_up();
        code_.jump_if(BPF_JEQ, Register::k0, 0, pass_);
        code_.place(found);
        code_.set(kGroup, Register::k0);
    }

    // Into kTable, if the groups are not in one map.
    void find_table() {
        if (targets_.tables_map_fd >= 0) {
            code_.set(Register::k1, 0);
            code_.store(Register::kFrame, kZero, Register::k1, 4);
            look_up_first(targets_.tables_map_fd);
            code_.set(kTable, Register::k0);
        }
    }

    void look_up_first(int array_map_fd) {
        code_.set(Register::k2, Register::kFrame);
        code_.calculate(BPF_ADD, Register::k2, static_cast<std::int32_t>(kZero));
        code_.set_map(Register::k1, array_map_fd);
        code_.call(BPF_FUNC_map_lookup_elem);
        code_.jump_if(BPF_JEQ, Register::k0, 0, pass_);
    }

    void point_to_key() {
        code_.set(Register::k2, Register::kFrame);
        code_.calculate(BPF_ADD, Register::k2, static_cast<std::int32_t>(key_at()));
        if (targets_.tables_map_fd >= 0) {
            code_.set(Register::k1, kTable);
        } else {
            code_.set_map(Register::k1, targets_.groups_map_fd);
        }
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
        const auto count_at = static_cast<std::ptrdiff_t>(part.offset);
        code_.set(Register::k1, 1);
        add_to(count_at, Register::k1);
        const std::ptrdiff_t value_at = count_at + static_cast<std::ptrdiff_t>(kWord);
        if (part.kind == AggregateKind::kSum) {
            add_to_sum(part, i, value_at);
        } else if (part.kind != AggregateKind::kCount) {
            keep_extreme(part, i, value_at, done);
        }
        code_.place(done);
    }

    // k1 becomes what was there before.
    void add_to(std::ptrdiff_t place, Register amount) {
        if (targets_.is_preemptible) {
            code_.add_atomically(kGroup, place, amount);
            return;
        }
        code_.load(Register::k0, kGroup, static_cast<std::size_t>(place), 8);
        code_.calculate(BPF_ADD, amount, Register::k0);
        code_.store(kGroup, place, amount, 8);
        code_.set(amount, Register::k0);
    }

    // 128 bits: the low half carries into the high one, which takes the sign.
    void add_to_sum(const Part& part, std::size_t i, std::ptrdiff_t low_at) {
        const Label no_carry = code_.new_label();
        code_.load_frame(Register::k2, argument_at(i), 8);
        code_.set(Register::k1, Register::k2);
        add_to(low_at, Register::k1);
        code_.set(Register::k3, 0);
        if (part.is_signed) {
            code_.set(Register::k3, Register::k2);
            code_.calculate(BPF_ARSH, Register::k3, 63);
        }
        code_.calculate(BPF_ADD, Register::k1, Register::k2);
        code_.jump_if(BPF_JGE, Register::k1, Register::k2, no_carry);
        code_.calculate(BPF_ADD, Register::k3, 1);
        code_.place(no_carry);
        add_to(low_at + static_cast<std::ptrdiff_t>(kWord), Register::k3);
    }

    // Who is interrupted between looking and writing tries again.
    void keep_extreme(const Part& part, std::size_t i, std::ptrdiff_t place, Label done) {
        code_.load_frame(Register::k1, argument_at(i), 8);
        if (const std::uint64_t flipped = flipped_bits(part.kind, part.is_signed); flipped != 0) {
            code_.set_wide(Register::k2, flipped);
            code_.calculate(BPF_XOR, Register::k1, Register::k2);
        }
        code_.load(Register::k0, kGroup, static_cast<std::size_t>(place), 8);
        if (!targets_.is_preemptible) {
            code_.jump_if(BPF_JGE, Register::k0, Register::k1, done);
            code_.store(kGroup, place, Register::k1, 8);
            return;
        }
        for (int tried = 0; tried < kExchangesMax; ++tried) {
            code_.jump_if(BPF_JGE, Register::k0, Register::k1, done);
            code_.set(Register::k2, Register::k0);
            code_.exchange_if_r0(kGroup, place, Register::k1);
            code_.jump_if(BPF_JEQ, Register::k0, Register::k2, done);
        }
    }

    static constexpr int kExchangesMax = 4;  // each needs another task in between

    const BpfGrouping& grouping_;
    const BpfGroupTargets& targets_;
    Assembler& code_;
    BpfSource& source_;
    const Label pass_;
};

std::optional<std::vector<bpf_insn>> BpfGrouping::program(const BpfLayout& layout,
                                                          const BpfGroupTargets& targets,
                                                          StringAtoms& atoms) const {
    Assembler code;
    BpfColumns columns(code, layout.host_index);
    const Label pass = code.new_label(), is_not_selected = code.new_label();
    begin_program(code, layout);
    Writer(*this, code, columns, targets, pass).count(atoms, is_not_selected);
    leave_program(code, layout, targets.counted_index, 2);
    code.place(pass);
    leave_program(code, layout, layout.passed_index, 1);
    code.place(is_not_selected);
    leave_program(code, layout, layout.dropped_index, 0);
    return std::move(code).finish();
}

void BpfGrouping::count_row(Assembler& code,
                            std::ptrdiff_t row_at,
                            const BpfGroupTargets& targets,
                            Label is_not_selected,
                            Label pass) const {
    BpfRow row(code, row_at);
    StringAtoms none;
    Writer(*this, code, row, targets, pass).count(none, is_not_selected);
}

}  // namespace dyetrace::filter
