#include "base/temporary_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <random>

namespace dyetrace::base {

namespace {

std::string parent_path() {
    const char* const parent = std::getenv("TMPDIR");
    return parent != nullptr ? parent : "/tmp";
}

}  // namespace

std::string TemporaryFolder::free_path() {
    std::random_device random;  // the kernel's
    return fmt::format("{}/dyetrace-{:08x}{:08x}{:08x}{:08x}",
                       parent_path(),
                       random(),
                       random(),
                       random(),
                       random());
}

Result<TemporaryFolder> TemporaryFolder::make(const std::string& free_path) {
    if (::mkdir(free_path.c_str(), 0700) != 0) {
        return Error::from_errno(errno, "making '" + free_path + "'");
    }
    return TemporaryFolder(free_path);
}

Result<TemporaryFolder> TemporaryFolder::make() {
    std::string path = parent_path() + "/dyetrace-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) return Error::from_errno(errno, "making '" + path + "'");
    return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
    if (path_.empty()) return;
    std::error_code ignored;  // what cannot be removed stays for the system's own cleaning of /tmp
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace dyetrace::base
