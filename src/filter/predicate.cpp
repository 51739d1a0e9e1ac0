#include "filter/predicate.h"

#include <algorithm>
#include <utility>

#include "filter/parser.h"
#include "filter/simplify.h"
#include "filter/sql_text.h"

namespace dyetrace::filter {
namespace {

bool uses_column(const Expression& e, schema::EventColumn column) {
    return (e.op == Operator::kColumn && e.column == column) ||
           std::any_of(e.operands.begin(), e.operands.end(), [&](const Expression& operand) {
               return uses_column(operand, column);
           });
}

}  // namespace

Predicate::Predicate() : expression_(boolean_constant(true)) {}

Predicate::Predicate(Expression expression) : expression_(std::move(expression)) {}

Result<Predicate> Predicate::parse(std::string_view condition, const RowLayout* row) {
    TRY(Expression expression, parse_condition(condition, row));
    return of(std::move(expression));
}

Predicate Predicate::of(Expression expression) {
    return Predicate(simplified_condition(std::move(expression)));
}

Predicate Predicate::and_also(const Predicate& other) const {
    return of(condition(Operator::kAnd, {expression_, other.expression_}));
}

bool Predicate::uses(schema::EventColumn column) const {
    return uses_column(expression_, column);
}

std::string Predicate::to_sql() const {
    return sql_text(expression_);
}

}  // namespace dyetrace::filter
