#include "importer/problems.h"

#include <fmt/format.h>

#include <algorithm>

namespace dyetrace::importer {

void Problems::add(std::string_view reason, Place place, bool loses_event) {
    auto problem = std::find_if(
        problems_.begin(), problems_.end(), [&](const Problem& p) { return p.reason == reason; });
    if (problem == problems_.end()) {
        problem = problems_.insert(problems_.end(), {std::string(reason), 0, loses_event, {}});
    }
    ++problem->count;
    lost_ += loses_event ? 1 : 0;
    if (problem->places.size() < kPlacesMax) {
        problem->places.push_back(fmt::format("{}:{}", place.file, place.line));
    }
}

std::string text_of(const Problem& problem) {
    return fmt::format("{} {}: {} ({}{})",
                       problem.count,
                       problem.count == 1 ? "line" : "lines",
                       problem.reason,
                       fmt::join(problem.places, ", "),
                       problem.count > problem.places.size() ? ", …" : "");
}

}  // namespace dyetrace::importer
