// A trace as a database with all that SQL can ask of it: made tables, functions, macros, a clock.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "content/fingerprint.h"
#include "store/database.h"

namespace dyetrace::query {

struct AnalysisDatabaseOptions {
    store::DatabaseOptions database = {};
    std::optional<content::ContentKey> key =
        {};                              // that the trace was recorded with, for fingerprint_of()
    std::string_view clock = "cluster";  // raw, wall, cluster
};

Result<std::unique_ptr<store::Database>> open_analysis_database(
    const std::string& trace, const AnalysisDatabaseOptions& options);

}  // namespace dyetrace::query
