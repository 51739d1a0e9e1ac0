#include "probes/near_names.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include "base/spelling.h"

namespace dyetrace::probes {

bool matches_pattern(const std::string& name, const std::string& pattern) {
    return pattern.size() <= kPatternBytesMax && fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

std::string perhaps(std::string_view name, const std::vector<std::string_view>& known) {
    const std::string_view near =
        name.size() <= kPatternBytesMax ? base::nearest_word(name, known) : std::string_view();
    return near.empty() ? "" : fmt::format(", did you mean '{}'?", near);
}

}  // namespace dyetrace::probes
