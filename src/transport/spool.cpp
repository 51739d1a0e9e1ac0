#include "transport/spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "transport/sessions.h"

namespace dyetrace::transport {
namespace {

constexpr std::size_t kInstanceBytes = 16;
constexpr std::uint64_t kBlockBytes = 512;  // of st_blocks
constexpr mode_t kOwnerOnly = 0700;         // payload and names of files lie in it

}  // namespace

Result<Spool> Spool::open(const std::string& path) {
    TRY(base::make_folders(path));
    if (::chmod(path.c_str(), kOwnerOnly) != 0) {
        return Error::from_errno(errno, fmt::format("cannot keep the spool '{}' private", path));
    }
    Spool spool(path);
    TRY(spool.lock_, base::open_file(path + "/agent", O_RDWR | O_CREAT));
    if (::flock(spool.lock_.get(), LOCK_EX | LOCK_NB) != 0) {
        return Error(ErrorCode::kAlreadyExists,
                     fmt::format("another agent has the spool '{}': give this one its own with "
                                 "--spool",
                                 path));
    }
    TRY(spool.read_instance());
    return spool;
}

Result<void> Spool::read_instance() {
    const std::string path = path_ + "/instance";
    auto known = base::read_file(path, 2 * kInstanceBytes);
    if (known.ok() && known.value().size() == 2 * kInstanceBytes) {
        instance_ = std::move(known).value();
        return {};
    }
    std::array<std::byte, kInstanceBytes> random{};
    if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
        return Error::from_errno(errno, "cannot make a random number");
    }
    instance_ = base::hex_text(random);
    return base::write_file_atomically(path, instance_);
}

Result<std::vector<std::string>> Spool::sessions() const {
    TRY(std::vector<std::string> names, base::list_folder(path_));
    std::erase_if(names, [this](const std::string& name) {
        struct stat status {};
        return !is_plain_name(name) || ::stat(session_path(name).c_str(), &status) != 0 ||
               !S_ISDIR(status.st_mode);
    });
    return names;
}

std::uint64_t Spool::bytes() const {
    std::uint64_t sum = 0;
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator entry(path_, error), end;
         !error && entry != end;
         entry.increment(error)) {
        struct stat status {};
        if (::lstat(entry->path().c_str(), &status) == 0) {
            sum += static_cast<std::uint64_t>(status.st_blocks) * kBlockBytes;
        }
    }
    return sum;
}

}  // namespace dyetrace::transport
