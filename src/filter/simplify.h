// The same condition with less to do: constants calculated, TRUE and FALSE taken through AND, OR and NOT.
#pragma once

#include "filter/expression.h"

namespace dyetrace::filter {

// Same truth (of three) for every event.
Expression simplified(Expression expression);

// The whole condition, where unknown counts as FALSE.
Expression simplified_condition(Expression expression);

}  // namespace dyetrace::filter
