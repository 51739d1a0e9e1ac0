#include "recorder/namespace_names.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>

#include "base/clock.h"
#include "base/file.h"
#include "schema/record.h"

namespace dyetrace::recorder {
namespace {

// A host with more is not read further; its namespaces keep their numbers.
constexpr std::size_t kNamespacesMax = 65'536;
constexpr std::size_t kNamesMax = 4'096;
constexpr std::int64_t kLookAgainNs = 10'000'000;

// 0 if the file is no namespace.
std::uint32_t namespace_at(const std::string& path) {
    struct statfs file_system {};
    struct stat status {};
    const bool is_namespace = ::statfs(path.c_str(), &file_system) == 0 &&
                              file_system.f_type == NSFS_MAGIC &&
                              ::stat(path.c_str(), &status) == 0;
    return is_namespace ? static_cast<std::uint32_t>(status.st_ino) : 0;
}

}  // namespace

void NamespaceNames::learn(std::span<const std::byte> facts) {
    for (schema::RecordBytes record = schema::first_record(facts); !record.empty();
         record = schema::first_record(facts)) {
        facts = facts.subspan(record.size());
        const auto* const context = schema::as<schema::TaskContext>(record);
        const std::uint32_t inode = context == nullptr ? own_ : context->network_namespace;
        if (inode == own_ || (has_name_.size() == kNamespacesMax && !has_name_.contains(inode))) {
            continue;
        }
        asked_ |= !has_name_.try_emplace(inode, false).first->second;
    }
}

// The key is the inode; it has the first in order of several names.
std::map<std::uint32_t, std::string> NamespaceNames::read_names() const {
    std::map<std::uint32_t, std::string> found;
    for (const std::string& folder : folders_) {
        const auto names = base::list_folder(folder);
        if (!names.ok()) {
            continue;  // nobody made one yet
        }
        for (const std::string& name : names.value()) {
            if (found.size() == kNamesMax) {
                return found;
            }
            const std::string path = fmt::format("{}/{}", folder, name);
            if (const std::uint32_t inode = namespace_at(path); inode != 0) {
                found.try_emplace(inode, name);
            }
        }
    }
    return found;
}

Result<void> NamespaceNames::look(bool now, const Each& each) {
    const std::int64_t time_ns = base::monotonic_time_ns();
    if (!now && (!asked_ || time_ns - looked_ns_ < kLookAgainNs)) {
        return {};
    }
    if (std::all_of(
            has_name_.begin(), has_name_.end(), [](const auto& one) { return one.second; })) {
        return {};
    }
    asked_ = false;
    looked_ns_ = time_ns;
    for (const auto& [inode, name] : read_names()) {
        const auto seen = has_name_.find(inode);
        if (seen != has_name_.end() && !seen->second) {
            seen->second = true;
            TRY(each(inode, name));
        }
    }
    return {};
}

}  // namespace dyetrace::recorder
