#include "filter/evaluator.h"

#include <algorithm>
#include <utility>

namespace dyetrace::filter {
namespace {

using schema::EventColumn;

bool is_path(EventColumn column) {
    return column == EventColumn::kPath || column == EventColumn::kPath2;
}

bool is_task_text(EventColumn column) {
    return column == EventColumn::kComm || column == EventColumn::kExe ||
           column == EventColumn::kContainer;
}

// One column of text against constants.
bool is_condition_on_column(const Expression& e) {
    if (e.op != Operator::kIn && !is_comparison(e.op) && !is_text_condition(e.op)) {
        return false;
    }
    return e.operands[0].op == Operator::kColumn && e.operands[0].type == Type::kText &&
           std::all_of(e.operands.begin() + 1, e.operands.end(), [](const Expression& o) {
               return o.is_constant();
           });
}

}  // namespace

Evaluator::Evaluator(const Predicate& predicate, std::string_view host)
    : predicate_(std::make_unique<const Predicate>(predicate)), host_(host) {
    root_ = node_of(predicate_->expression());
}

bool Evaluator::matches(schema::RecordBytes record,
                        std::uint16_t cpu,
                        const schema::Dictionary& dictionary) const {
    EventValues values(buffers_, host_);
    return values.set(record, cpu, dictionary) && truth(root_, values) == Truth::kTrue;
}

Evaluator::Node Evaluator::node_of(const Expression& e) {
    Node node;
    node.expression = &e;
    for (const Expression& operand : e.operands) {
        node.operands.push_back(node_of(operand));
    }
    if (is_condition_on_column(e)) {
        remember(node);
    }
    const auto is_number = [](const Expression& o) {
        return o.is_constant() && o.type == Type::kInteger;
    };
    if (e.op == Operator::kIn && std::all_of(e.operands.begin() + 1, e.operands.end(), is_number)) {
        std::for_each(e.operands.begin() + 1, e.operands.end(), [&](const Expression& o) {
            node.sorted.push_back(o.integer());
        });
        std::sort(node.sorted.begin(), node.sorted.end());
    }
    return node;
}

void Evaluator::remember(Node& node) {
    const EventColumn column = node.expression->operands[0].column;
    if ((!is_path(column) && !is_task_text(column)) ||
        remembered_ == static_cast<int>(kRememberedMax)) {
        return;
    }
    node.remembered = remembered_;
    node.per_task = is_task_text(column);
    remembered_ += 1;
    (node.per_task ? tasks_ : handles_).resize(kSlots);
}

Truth Evaluator::truth(const Node& node, const EventValues& values) const {
    switch (node.expression->op) {
        case Operator::kAnd:
        case Operator::kOr:
            return junction(node, values);
        case Operator::kNot:
            return !truth(node.operands[0], values);
        default:
            return node.remembered >= 0 ? remembered_truth(node, values)
                                        : condition_truth(node, values);
    }
}

Truth Evaluator::junction(const Node& node, const EventValues& values) const {
    const Truth decisive = truth_of(node.expression->op == Operator::kOr);
    Truth result = !decisive;
    for (const Node& operand : node.operands) {
        const Truth one = truth(operand, values);
        if (one == decisive) {
            return decisive;
        }
        if (one == Truth::kNull) {
            result = Truth::kNull;
        }
    }
    return result;
}

Truth Evaluator::condition_truth(const Node& node, const EventValues& values) const {
    const Expression& e = *node.expression;
    if (e.op == Operator::kConstant || e.op == Operator::kColumn) {
        const Value own = value(node, values);
        return own.type == Type::kNull ? Truth::kNull : truth_of(own.integer != 0);
    }
    if (e.op == Operator::kIsNull) {
        return truth_of(value(node.operands[0], values).type == Type::kNull);
    }
    if (e.op == Operator::kIn) {
        return in_truth(node, values);
    }
    const Value left = value(node.operands[0], values);
    if (is_text_condition(e.op)) {
        return text_condition(e, left);
    }
    return compare(e.op, left, value(node.operands[1], values));
}

Truth Evaluator::in_truth(const Node& node, const EventValues& values) const {
    const Value subject = value(node.operands[0], values);
    if (subject.type == Type::kNull) {
        return Truth::kNull;
    }
    if (!node.sorted.empty()) {
        return truth_of(
            std::binary_search(node.sorted.begin(), node.sorted.end(), subject.integer));
    }
    Truth result = Truth::kFalse;
    for (std::size_t i = 1; i < node.operands.size(); ++i) {
        const Truth equal = compare(Operator::kEqual, subject, value(node.operands[i], values));
        if (equal == Truth::kTrue) {
            return equal;
        }
        result = equal == Truth::kNull ? equal : result;
    }
    return result;
}

// Where the answer for this event's handle or task is kept; nullptr: it is not the handle's alone, or not known yet.
Evaluator::Slot* Evaluator::slot_of(const Node& node, const EventValues& values) const {
    std::uint32_t id = 0;
    if (node.per_task) {
        if (values.task() == nullptr) {
            return nullptr;
        }
        id = values.task()->context_id;
    } else {
        const EventColumn column = node.expression->operands[0].column;
        const schema::Object* object =
            column == EventColumn::kPath ? values.object() : values.object2();
        // The name of a unix socket may become known after the socket.
        if (!values.path_is_of_handle(column) ||
            object->object_type == schema::ObjectType::kSocket) {
            return nullptr;
        }
        id = object->handle_id;
    }
    std::vector<Slot>& slots = node.per_task ? tasks_ : handles_;
    Slot& slot = slots[(id * 0x9e3779b1u) % kSlots];
    if (!slot.used || slot.id != id) {
        slot = Slot{};
        slot.id = id;
        slot.used = true;
    }
    return &slot;
}

Truth Evaluator::remembered_truth(const Node& node, const EventValues& values) const {
    Slot* const slot = slot_of(node, values);
    if (slot == nullptr) {
        return condition_truth(node, values);
    }
    const std::uint64_t bit = std::uint64_t{1} << node.remembered;
    if ((slot->known & bit) == 0) {
        const Truth found = condition_truth(node, values);
        slot->known |= bit;
        slot->true_bits |= found == Truth::kTrue ? bit : 0;
        slot->null_bits |= found == Truth::kNull ? bit : 0;
    }
    if ((slot->null_bits & bit) != 0) {
        return Truth::kNull;
    }
    return truth_of((slot->true_bits & bit) != 0);
}

Value Evaluator::value(const Node& node, const EventValues& values) const {
    const Expression& e = *node.expression;
    if (e.op == Operator::kConstant) {
        return value_of(e.constant);
    }
    if (e.op == Operator::kColumn) {
        return values.of(e.column);
    }
    if (is_arithmetic(e.op)) {
        return calculate(e.op, value(node.operands[0], values), value(node.operands[1], values));
    }
    const Truth found = truth(node, values);
    return found == Truth::kNull ? Value{} : Value::of(found == Truth::kTrue);
}

}  // namespace dyetrace::filter
