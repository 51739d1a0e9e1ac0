// A question that counts, and what was counted, on their way between programs: a line of JSON each.
//
//   {"where":"bytes > 0","keys":["name"],"aggregates":[{"kind":"sum","of":"bytes"}]}
//   [{"key":["read",["7"]],"partials":[[3,"4096"]]}]       numbers are text in an array: they have 128 bits
#pragma once

#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "filter/grouping.h"
#include "filter/probe_question.h"
#include "filter/row.h"

namespace dyetrace::filter {

base::Json json_of(const Grouping& grouping);
// With a row its fields are what the grouping is about.
Result<Grouping> grouping_from(const base::Json& json, const RowLayout* row = nullptr);

base::Json json_of(const std::vector<RowColumn>& columns);
Result<std::vector<RowColumn>> row_columns_from(const base::Json& json);

base::Json json_of(const ProbeQuestion& question);
Result<ProbeQuestion> probe_question_from(const base::Json& json);

base::Json json_of(const Groups& groups);
Result<std::vector<Group>> groups_from(const base::Json& json);

}  // namespace dyetrace::filter
