// How names are chosen by a pattern, and what is said of a name that nothing has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dyetrace::probes {

// Longer ones are of nobody who looks for a name: the longest symbol of a kernel has 511 bytes.
constexpr std::size_t kPatternBytesMax = 512;

// * any run, ? one character, [a-c] and [!a-c] one of them, \ makes the next one plain; as fnmatch(3).
bool matches_pattern(const std::string& name, const std::string& pattern);

// ", did you mean 'vfs_read'?", or nothing if no known name is near.
std::string perhaps(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace dyetrace::probes
