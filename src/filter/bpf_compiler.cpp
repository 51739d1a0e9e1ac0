#include "filter/bpf_compiler.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "filter/assembler.h"
#include "filter/bpf_columns.h"
#include "filter/bpf_numbers.h"
#include "filter/simplify.h"
#include "filter/sql_text.h"
#include "filter/string_atoms.h"

namespace dyetrace::filter {
namespace {

using schema::EventColumn;

// What every system call's columns are.
Expression with_known_columns(Expression e, const BpfLayout& layout) {
    if (e.op == Operator::kColumn) {
        switch (e.column) {
            case EventColumn::kKind:
                return text_constant("syscall");
            case EventColumn::kWeight:
                return integer_constant(1);
            case EventColumn::kHost:
                return layout.host.empty() ? std::move(e) : text_constant(layout.host);
            case EventColumn::kParentEventId:
            case EventColumn::kPart:  // a task's calls may have parts
                return layout.task_only ? std::move(e) : null_constant();
            default:
                break;
        }
        const auto group = info_of(e.column).group;
        const bool later = group == schema::EventColumnGroup::kLater ||
                           group == schema::EventColumnGroup::kContent;
        return later ? null_constant() : std::move(e);
    }
    for (Expression& operand : e.operands) {
        operand = with_known_columns(std::move(operand), layout);
    }
    return e;
}

bool is_column_against_constants(const Expression& e) {
    return e.operands[0].op == Operator::kColumn &&
           std::all_of(e.operands.begin() + 1, e.operands.end(), [](const Expression& o) {
               return o.is_constant();
           });
}

// Whether all columns of a condition are what filter_task holds.
bool is_about_task(const Expression& e) {
    if (e.op != Operator::kColumn) {
        return std::all_of(e.operands.begin(), e.operands.end(), is_about_task);
    }
    switch (e.column) {
        case EventColumn::kPid:
        case EventColumn::kTid:
        case EventColumn::kPpid:
        case EventColumn::kPidInNamespace:
        case EventColumn::kUid:
        case EventColumn::kNetworkNamespace:
        case EventColumn::kCgroupId:
        case EventColumn::kProcessId:
        case EventColumn::kThreadId:
        case EventColumn::kComm:
        case EventColumn::kExe:
            return true;
        default:
            return false;
    }
}

Truth truth_over(const Expression& e, const Value& subject) {
    if (e.op == Operator::kIsNull) {
        return truth_of(subject.type == Type::kNull);
    }
    if (is_text_condition(e.op)) {
        return text_condition(e, subject);
    }
    if (is_comparison(e.op)) {
        return compare(e.op, subject, value_of(e.operands[1].constant));
    }
    Truth result = Truth::kFalse;
    for (std::size_t i = 1; i < e.operands.size(); ++i) {
        const Truth equal = compare(Operator::kEqual, subject, value_of(e.operands[i].constant));
        if (equal == Truth::kTrue) {
            return equal;
        }
        result = equal == Truth::kNull ? equal : result;
    }
    return result;
}

class Compiler {
  public:
    Compiler(Assembler& code, const BpfLayout& layout, StringAtoms& atoms)
        : code_(code),
          columns_(code, layout.host_index),
          numbers_(code, columns_),
          atoms_(atoms),
          task_only_(layout.task_only) {}

    // Goes to ways.may if the condition may be `wanted`.
    void condition(const Expression& e, bool wanted, Ways ways);

    std::vector<std::string> undecided;

  private:
    void junction(const Expression& e, bool wanted, Ways ways);
    bool atom(const Expression& e, bool wanted, Ways ways);
    bool boolean_column(const Expression& e, bool wanted, Ways ways);
    bool named_condition(const Expression& e, bool wanted, Ways ways);
    bool text_atom(const Expression& e, bool wanted, Ways ways);
    bool null_test(const Expression& e, bool wanted, Ways ways);
    void in_ranges(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& ranges, Ways ways);
    Assembler& code_;
    BpfColumns columns_;
    BpfNumbers numbers_;
    StringAtoms& atoms_;
    bool task_only_;
};

void Compiler::condition(const Expression& e, bool wanted, Ways ways) {
    switch (e.op) {
        case Operator::kConstant:
            code_.jump(!e.is_null() && e.is_true() == wanted ? ways.may : ways.cannot);
            return;
        case Operator::kNot:
            return condition(e.operands[0], !wanted, ways);
        case Operator::kAnd:
        case Operator::kOr:
            return junction(e, wanted, ways);
        default:
            break;
    }
    if (!atom(e, wanted, ways)) {
        undecided.push_back(sql_text(e));
        code_.jump(ways.may);
    }
}

// All operands must be able to (AND wanted true, OR wanted false), or one.
void Compiler::junction(const Expression& e, bool wanted, Ways ways) {
    const bool all = (e.op == Operator::kAnd) == wanted;
    for (const Expression& operand : e.operands) {
        const Label next = code_.new_label();
        condition(operand, wanted, all ? Ways{next, ways.cannot} : Ways{ways.may, next});
        code_.place(next);
    }
    code_.jump(all ? ways.may : ways.cannot);
}

// False: the kernel cannot decide, and control falls through.
bool Compiler::atom(const Expression& e, bool wanted, Ways ways) {
    if (task_only_ && !is_about_task(e)) {
        return false;
    }
    if (e.op == Operator::kColumn) {
        return boolean_column(e, wanted, ways);
    }
    if (!e.operands.empty() && e.operands[0].type == Type::kText &&
        is_column_against_constants(e)) {
        return named_condition(e, wanted, ways) || text_atom(e, wanted, ways);
    }
    if (e.op == Operator::kIsNull) {
        return null_test(e, wanted, ways);
    }
    if (e.operands[0].type != Type::kInteger) {
        return false;
    }
    return e.op == Operator::kIn ? numbers_.in(e, wanted, ways)
                                 : is_comparison(e.op) && numbers_.comparison(e, wanted, ways);
}

bool Compiler::boolean_column(const Expression& e, bool wanted, Ways ways) {
    if (!columns_.load(e.column, Register::k1, exits_of(ways))) {
        return false;
    }
    code_.jump_if(BPF_JEQ, Register::k1, wanted ? 1 : 0, ways.may);
    code_.jump(ways.cannot);
    return true;
}

// Decided here for every name that there is; the program asks for their numbers.
bool Compiler::named_condition(const Expression& e, bool wanted, Ways ways) {
    std::vector<NamedNumber> names = names_of(e.operands[0].column);
    if (names.empty()) {
        return false;
    }
    std::sort(names.begin(), names.end(), [](const auto& a, const auto& b) {
        return a.number < b.number;
    });
    const bool null_wanted = e.op == Operator::kIsNull && wanted;
    const Label none = null_wanted ? ways.may : ways.cannot;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges;
    for (const NamedNumber& named : names) {
        if ((truth_over(e, Value::of(named.name)) == truth_of(wanted)) == null_wanted) {
            continue;  // for IS NULL the numbers that have a name are looked for
        }
        if (!ranges.empty() && ranges.back().second + 1 == named.number) {
            ranges.back().second = named.number;
        } else {
            ranges.emplace_back(named.number, named.number);
        }
    }
    columns_.load_named(e.operands[0].column, Register::k1, {.null = none, .undecided = ways.may});
    in_ranges(ranges, null_wanted ? Ways{ways.cannot, ways.may} : ways);
    return true;
}

void Compiler::in_ranges(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& ranges,
                         Ways ways) {
    for (const auto& [first, last] : ranges) {
        if (first == last) {
            code_.jump_if(BPF_JEQ, Register::k1, static_cast<std::int32_t>(first), ways.may);
            continue;
        }
        code_.jump_if(BPF_JLT, Register::k1, static_cast<std::int32_t>(first), ways.cannot);
        code_.jump_if(BPF_JLE, Register::k1, static_cast<std::int32_t>(last), ways.may);
    }
    code_.jump(ways.cannot);
}

bool Compiler::text_atom(const Expression& e, bool wanted, Ways ways) {
    const EventColumn column = e.operands[0].column;
    if (e.op == Operator::kIn) {
        Expression any = dyetrace::filter::condition(Operator::kOr, {});
        for (std::size_t i = 1; i < e.operands.size(); ++i) {
            any.operands.push_back(
                dyetrace::filter::condition(Operator::kEqual, {e.operands[0], e.operands[i]}));
        }
        condition(simplified(std::move(any)), wanted, ways);
        return true;
    }
    if (e.op == Operator::kNotEqual) {
        return text_atom(dyetrace::filter::condition(Operator::kEqual, e.operands), !wanted, ways);
    }
    const Ways by_match = wanted ? ways : Ways{ways.cannot, ways.may};
    if (e.op == Operator::kEqual &&
        columns_.compare_bytes(
            column, e.operands[1].text(), by_match.may, by_match.cannot, exits_of(ways))) {
        return true;
    }
    filter_subject subject = FILTER_SUBJECT_PATH;
    switch (column) {
        case EventColumn::kPath:
        case EventColumn::kPath2:
        case EventColumn::kArgumentPath:
            break;
        case EventColumn::kExe:
            subject = FILTER_SUBJECT_EXE;
            break;
        case EventColumn::kComm:
            subject = FILTER_SUBJECT_COMM;
            break;
        default:
            return false;
    }
    if (e.operands.size() != 2) {
        return false;
    }
    const auto number = atoms_.number_of(e, subject);
    if (number) {
        columns_.verdict(column, *number, by_match.may, by_match.cannot, exits_of(ways));
    }
    return number.has_value();
}

bool Compiler::null_test(const Expression& e, bool wanted, Ways ways) {
    const Exits exits{.null = wanted ? ways.may : ways.cannot, .undecided = ways.may};
    if (e.operands[0].type == Type::kText || !numbers_.load(e.operands[0], Register::k1, exits)) {
        return false;
    }
    code_.jump(wanted ? ways.cannot : ways.may);
    return true;
}

void begin(Assembler& code, const BpfLayout& layout) {
    const Label found = code.new_label();
    code.set(kContext, Register::k1);
    code.set(Register::k1, 0);
    code.store(Register::kFrame, -4, Register::k1, 4);
    code.set(Register::k2, Register::kFrame);
    code.calculate(BPF_ADD, Register::k2, -4);
    code.set_map(Register::k1, layout.scratch_map_fd);
    code.call(BPF_FUNC_map_lookup_elem);
    code.jump_if(BPF_JNE, Register::k0, 0, found);
    code.exit();
    code.place(found);
    code.set(kEvent, Register::k0);
    code.calculate(BPF_ADD, kEvent, static_cast<std::int32_t>(layout.event_offset));
    code.set(kInput, Register::k0);
    code.calculate(BPF_ADD, kInput, static_cast<std::int32_t>(layout.input_offset));
}

// Goes to another program of the table, or ends with `result` where there is no table.
void leave(Assembler& code, const BpfLayout& layout, std::optional<std::uint32_t> to, int result) {
    if (layout.program_array_fd >= 0 && to) {
        code.set(Register::k1, kContext);
        code.set_map(Register::k2, layout.program_array_fd);
        code.set(Register::k3, static_cast<std::int32_t>(*to));
        code.call(BPF_FUNC_tail_call);
        result = 0;
    }
    code.set(Register::k0, result);
    code.exit();
}

void end(Assembler& code, const BpfLayout& layout, Ways ways) {
    code.place(ways.cannot);
    leave(code, layout, layout.dropped_index, 0);
    code.place(ways.may);
    leave(code, layout, layout.passed_index, 1);
}

}  // namespace

BpfFilter compile_bpf(const Predicate& predicate, const BpfLayout& layout, StringAtoms& atoms) {
    const Expression known =
        simplified_condition(with_known_columns(predicate.expression(), layout));
    BpfFilter filter;
    Assembler code;
    const Ways ways{code.new_label(), code.new_label()};
    begin(code, layout);
    Compiler compiler(code, layout, atoms);
    compiler.condition(known, true, ways);
    end(code, layout, ways);
    if (auto instructions = std::move(code).finish()) {
        filter.instructions = std::move(*instructions);
        filter.undecided = std::move(compiler.undecided);
        return filter;
    }
    filter = compile_bpf(Predicate(), layout, atoms);
    filter.too_large = true;
    filter.undecided = {predicate.to_sql()};
    return filter;
}

}  // namespace dyetrace::filter
