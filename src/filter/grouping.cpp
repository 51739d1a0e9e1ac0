#include "filter/grouping.h"

#include <algorithm>
#include <functional>

#include "filter/parser.h"

namespace dyetrace::filter {

// A column, a constant, or what is calculated of them.
static Value value_of(const Expression& e, const EventValues& values) {
    if (e.op == Operator::kConstant) {
        return value_of(e.constant);
    }
    if (e.op == Operator::kColumn) {
        return values.of(e.column);
    }
    return calculate(e.op, value_of(e.operands[0], values), value_of(e.operands[1], values));
}

namespace {

void set(Constant& to, const Value& value) {
    switch (value.type) {
        case Type::kNull:
            to = std::monostate{};
            return;
        case Type::kText:
            if (auto* text = std::get_if<std::string>(&to)) {
                text->assign(value.text);
            } else {
                to = std::string(value.text);
            }
            return;
        default:
            to = value.integer;
    }
}

}  // namespace

Result<Expression> parse_key(std::string_view key, const RowLayout* row) {
    auto value = parse_value(key, row);
    return value.ok() ? std::move(value) : parse_condition(key, row);
}

void Partial::merge(AggregateKind kind, const Partial& other) {
    if (other.count == 0) {
        return;
    }
    const bool is_first = count == 0;
    count += other.count;
    switch (kind) {
        case AggregateKind::kCount:
            return;
        case AggregateKind::kSum:
            value = is_first ? other.value : value + other.value;
            return;
        case AggregateKind::kLeast:
            value = is_first ? other.value : std::min(value, other.value);
            return;
        case AggregateKind::kGreatest:
            value = is_first ? other.value : std::max(value, other.value);
    }
}

std::size_t GroupKeyHash::operator()(const GroupKey& key) const {
    std::size_t hash = 0;
    for (const Constant& part : key) {
        std::size_t of_part = part.index();
        if (const auto* text = std::get_if<std::string>(&part)) {
            of_part = std::hash<std::string_view>{}(*text);
        } else if (const auto* number = std::get_if<Integer>(&part)) {
            of_part = std::hash<std::uint64_t>{}(static_cast<std::uint64_t>(*number));
        }
        hash = (hash ^ of_part) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 32;
    }
    return hash;
}

GroupTable::GroupTable(const Grouping& grouping, std::string_view host, std::size_t groups_max)
    : grouping_(grouping),
      evaluator_(grouping.where, host),
      host_(host),
      groups_max_(groups_max),
      key_(grouping.keys.size()) {
    for (const Expression& key : grouping.keys) {
        if (is_condition(key)) {
            conditions_.emplace_back(Predicate::of(key), host);
        }
    }
}

std::vector<Partial>* GroupTable::group_of(const GroupKey& key) {
    const auto found = groups_.find(key);
    if (found != groups_.end()) {
        return &found->second;
    }
    if (groups_.size() >= groups_max_) {
        return nullptr;
    }
    return &groups_.emplace(key, std::vector<Partial>(grouping_.aggregates.size())).first->second;
}

bool GroupTable::add(schema::RecordBytes record,
                     std::uint16_t cpu,
                     const schema::Dictionary& dictionary) {
    if (!evaluator_.matches(record, cpu, dictionary)) {
        return false;
    }
    EventValues values(buffers_, host_);
    values.set(record, cpu, dictionary);
    auto condition = conditions_.begin();
    add_values(values,
               [&](const Expression&) { return (condition++)->matches(record, cpu, dictionary); });
    return true;
}

bool GroupTable::add_row(std::span<const std::byte> row) {
    const RowValues values(row);
    if (truth_of(grouping_.where.expression(), values) != Truth::kTrue) {
        return false;
    }
    add_values(values, [&](const Expression& condition) {
        return truth_of(condition, values) == Truth::kTrue;
    });
    return true;
}

// `holds` is asked about the conditions in the order of the keys.
template <typename Values, typename Holds>
void GroupTable::add_values(const Values& values, Holds holds) {
    for (std::size_t i = 0; i < key_.size(); ++i) {
        const Expression& key = grouping_.keys[i];
        if (is_condition(key)) {
            key_[i] = Integer{holds(key)};
        } else {
            set(key_[i], value_of(key, values));
        }
    }
    std::vector<Partial>* const partials = group_of(key_);
    if (partials == nullptr) {
        ++left_out_;
        return;
    }
    for (std::size_t i = 0; i < partials->size(); ++i) {
        const Aggregate& aggregate = grouping_.aggregates[i];
        const Value value = value_of(aggregate.argument, values);
        if (value.type != Type::kNull) {
            (*partials)[i].merge(aggregate.kind, {1, value.integer});
        }
    }
}

void GroupTable::merge(const GroupKey& key, const std::vector<Partial>& partials) {
    std::vector<Partial>* const own = group_of(key);
    if (own == nullptr) {
        std::uint64_t events = 1;
        for (const Partial& partial : partials) {
            events = std::max(events, partial.count);
        }
        left_out_ += events;
        return;
    }
    for (std::size_t i = 0; i < own->size(); ++i) {
        (*own)[i].merge(grouping_.aggregates[i].kind, partials[i]);
    }
}

}  // namespace dyetrace::filter
