#include "query/damages.h"

#include <fmt/format.h>

#include <algorithm>

namespace dyetrace::query {
namespace {

// More would hide the answer; the table `gaps` has them all.
constexpr std::size_t kDamagesSaidMax = 10;

}  // namespace

void say_damages(const store::Database& database, const base::Log& log) {
    const auto& damages = database.damages();
    const std::size_t said = std::min(damages.size(), kDamagesSaidMax);
    for (std::size_t i = 0; i < said; ++i) {
        log.warn(damages[i]);
    }
    if (said < damages.size()) {
        log.warn(fmt::format("{} more files are damaged or missing", damages.size() - said));
    }
}

}  // namespace dyetrace::query
