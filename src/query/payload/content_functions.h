// What SQL can ask about content: functions of statements in `dyetrace sql`.
#pragma once

#include <optional>

#include "base/result.h"
#include "content/fingerprint.h"
#include "store/database.h"

namespace dyetrace::query {

// fingerprint_of(text): the fingerprint that a call which moves these bytes has. `key` is the trace's, if it has one.
// content_sum_of(text): the sum that it has.
Result<void> register_content_functions(store::Database& database,
                                        const std::optional<content::ContentKey>& key);

}  // namespace dyetrace::query
