// Asks one or two traces what resembles what.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "reports/similar/similar_answer.h"
#include "store/database.h"

namespace dyetrace::reports {

struct SimilarQuestion {
    static constexpr double kMinDefault = 0.1;

    std::optional<std::string> path;  // one of these, or none: all objects
    std::optional<std::uint64_t> event, object;
    // At least so much of either is in the other one.
    double min = kMinDefault;

    bool is_about_all() const { return !path && !event && !object; }
};

// If there are two databases, what the first has is compared with what the second has.
Result<SimilarAnswer> read_similar(const std::vector<std::unique_ptr<store::Database>>& databases,
                                   const SimilarQuestion& question);

}  // namespace dyetrace::reports
