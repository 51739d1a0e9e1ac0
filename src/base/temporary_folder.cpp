#include "base/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace dyetrace::base {

Result<TemporaryFolder> TemporaryFolder::make() {
    const char* parent = std::getenv("TMPDIR");
    std::string path = std::string(parent ? parent : "/tmp") + "/dyetrace-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) return Error::from_errno(errno, "making '" + path + "'");
    return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
    if (path_.empty()) return;
    std::error_code ignored;  // what cannot be removed stays for the system's own cleaning of /tmp
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace dyetrace::base
