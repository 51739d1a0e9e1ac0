// Which events matter: a condition over the columns of the view `events`, the same in the kernel, in C++ and in SQL.
//
//   TRY(Predicate predicate, Predicate::parse("class = 'file' AND path GLOB '/var/*'"));
//   Evaluator(predicate).matches(record, cpu, dictionary)      evaluator.h: decides exactly
//   compile_bpf(predicate, layout)                             bpf_compiler.h: drops in the kernel what cannot match
//   "SELECT * FROM events WHERE " + predicate.to_sql()         the same rows of a stored trace
//
// Two-valued: an event for which the condition is unknown (NULL) is not selected. An immutable value.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "filter/expression.h"
#include "filter/row.h"

namespace dyetrace::filter {

class Predicate {
  public:
    // Selects all events.
    Predicate();

    // Over events, or over the fields of a probe's row.
    static Result<Predicate> parse(std::string_view condition, const RowLayout* row = nullptr);

    // A tree whose types fit (made by expression.h's functions); it is simplified here.
    static Predicate of(Expression expression);

    // Both conditions.
    Predicate and_also(const Predicate& other) const;

    const Expression& expression() const { return expression_; }
    bool selects_all() const { return expression_.is_true(); }
    bool selects_nothing() const { return expression_.is_false(); }
    bool uses(schema::EventColumn column) const;

    // parse(to_sql()) is this predicate again: this is how it travels to agents and into trace.json.
    std::string to_sql() const;

    bool operator==(const Predicate&) const = default;

  private:
    explicit Predicate(Expression expression);

    Expression expression_;
};

}  // namespace dyetrace::filter
