#include "recorder/descendants.h"

#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/process_stat.h"

namespace dyetrace::recorder {
namespace {

std::optional<pid_t> number_in(std::string_view text) {
    pid_t number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace

Result<std::vector<pid_t>> descendants_of(const std::vector<pid_t>& processes) {
    std::multimap<pid_t, pid_t> children;
    std::error_code error;
    for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end;
         at.increment(error)) {
        const std::string name = at->path().filename().string();
        const std::optional<pid_t> process = number_in(name);
        if (!process) {
            continue;
        }
        // one that has ended meanwhile has no children
        if (const auto parent = base::stat_of("/proc/" + name, base::StatWord::kParent)) {
            children.emplace(static_cast<pid_t>(*parent), *process);
        }
    }
    if (error) {
        return Error::from_errno(error.value(), "reading '/proc'");
    }
    std::vector<pid_t> found = processes;
    std::set<pid_t> seen(processes.begin(), processes.end());
    for (std::size_t at = 0; at < found.size(); ++at) {
        const auto [first, last] = children.equal_range(found[at]);
        for (auto child = first; child != last; ++child) {
            if (seen.insert(child->second).second) {
                found.push_back(child->second);
            }
        }
    }
    found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(processes.size()));
    return found;
}

}  // namespace dyetrace::recorder
