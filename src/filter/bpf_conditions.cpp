#include "filter/bpf_conditions.h"

#include <algorithm>
#include <utility>

#include "filter/simplify.h"
#include "filter/sql_text.h"

namespace dyetrace::filter {

namespace {

using schema::EventColumn;

bool is_column_against_constants(const Expression& e) {
    return is_leaf(e.operands[0]) &&
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

}  // namespace

Expression with_known_columns(Expression e, const KnownColumns& known) {
    if (e.op == Operator::kColumn) {
        switch (e.column) {
            case EventColumn::kKind:
                return text_constant("syscall");
            case EventColumn::kWeight:
                return integer_constant(1);
            case EventColumn::kHost:
                return known.host.empty() ? std::move(e) : text_constant(known.host);
            case EventColumn::kParentEventId:
            case EventColumn::kPart:  // a task's calls may have parts
                return known.task_only ? std::move(e) : null_constant();
            default:
                break;
        }
        const auto group = info_of(e.column).group;
        const bool later = group == schema::EventColumnGroup::kLater ||
                           group == schema::EventColumnGroup::kContent;
        return later ? null_constant() : std::move(e);
    }
    for (Expression& operand : e.operands) {
        operand = with_known_columns(std::move(operand), known);
    }
    return e;
}

void BpfConditions::condition(const Expression& e, bool wanted, Ways ways) {
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
        code_.jump(undecided_of(ways));
    }
}

// All operands must be able to (AND wanted true, OR wanted false), or one.
void BpfConditions::junction(const Expression& e, bool wanted, Ways ways) {
    const bool all = (e.op == Operator::kAnd) == wanted;
    for (const Expression& operand : e.operands) {
        const Label next = code_.new_label();
        condition(
            operand,
            wanted,
            all ? Ways{next, ways.cannot, ways.undecided} : Ways{ways.may, next, ways.undecided});
        code_.place(next);
    }
    code_.jump(all ? ways.may : ways.cannot);
}

// False: the kernel cannot decide, and control falls through.
bool BpfConditions::atom(const Expression& e, bool wanted, Ways ways) {
    if (task_only_ && !is_about_task(e)) {
        return false;
    }
    if (is_leaf(e)) {
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

bool BpfConditions::boolean_column(const Expression& e, bool wanted, Ways ways) {
    if (!columns_.load(e, Register::k1, exits_of(ways))) {
        return false;
    }
    code_.jump_if(BPF_JEQ, Register::k1, wanted ? 1 : 0, ways.may);
    code_.jump(ways.cannot);
    return true;
}

// Decided here for every name that there is; the program asks for their numbers.
bool BpfConditions::named_condition(const Expression& e, bool wanted, Ways ways) {
    std::vector<NamedNumber> names = columns_.names_of(e.operands[0]);
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
    columns_.load_named(
        e.operands[0], Register::k1, {.null = none, .undecided = undecided_of(ways)});
    in_ranges(ranges, null_wanted ? Ways{ways.cannot, ways.may} : ways);
    return true;
}

void BpfConditions::in_ranges(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& ranges,
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

bool BpfConditions::text_atom(const Expression& e, bool wanted, Ways ways) {
    const Expression& leaf = e.operands[0];
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
    const Ways by_match = wanted ? ways : Ways{ways.cannot, ways.may, ways.undecided};
    if (e.op == Operator::kEqual &&
        columns_.compare_text(
            leaf, e.operands[1].text(), by_match.may, by_match.cannot, exits_of(ways))) {
        return true;
    }
    const auto subject = columns_.subject_of(leaf);
    if (!subject || e.operands.size() != 2) {
        return false;
    }
    const auto number = atoms_.number_of(e, *subject);
    if (number) {
        columns_.verdict(leaf, *number, by_match.may, by_match.cannot, exits_of(ways));
    }
    return number.has_value();
}

bool BpfConditions::null_test(const Expression& e, bool wanted, Ways ways) {
    const Exits exits{.null = wanted ? ways.may : ways.cannot, .undecided = undecided_of(ways)};
    if (e.operands[0].type == Type::kText || !numbers_.load(e.operands[0], Register::k1, exits)) {
        return false;
    }
    code_.jump(wanted ? ways.cannot : ways.may);
    return true;
}

}  // namespace dyetrace::filter
