#include "base/temporary_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <random>
#include <string_view>
#include <utility>

namespace dyetrace::base {

namespace {

std::string parent_path() {
    const char* const parent = std::getenv("TMPDIR");
    return parent != nullptr ? parent : "/tmp";
}

// Folders that are there, for a signal that ends the process before a destructor runs.
struct Place {
    std::atomic<bool> is_taken = false;
    std::atomic<bool> is_there = false;  // `path` is whole
    std::atomic<pid_t> owner = 0;        // not a child of it, which has the handler as well
    std::array<char, PATH_MAX> path{};
};
constexpr std::string_view kPrefix = "dyetrace-";
constexpr std::size_t kNameDigits = 16;
constexpr std::size_t kPlaces = 64;
constexpr int kTriesMax = 16;
std::array<Place, kPlaces> places;

// What a signal's handler may call is all that these two do. A folder holds files, and folders of files.
void remove_entries(int folder, int depth) {
    alignas(dirent64) std::array<char, 4096> entries;
    for (long size = 0;
         (size = ::syscall(SYS_getdents64, folder, entries.data(), entries.size())) > 0;) {
        for (long at = 0; at < size;) {
            const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
            at += entry->d_reclen;
            const std::string_view name = entry->d_name;
            if (name == "." || name == ".." || ::unlinkat(folder, entry->d_name, 0) == 0 ||
                depth == 0) {
                continue;
            }
            const int inner =
                ::openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (inner >= 0) {
                remove_entries(inner, depth - 1);
                ::close(inner);
                ::unlinkat(folder, entry->d_name, AT_REMOVEDIR);
            }
        }
    }
}

void remove_folders() {
    for (const Place& place : places) {
        const char* const path = place.path.data();
        const bool is_ours = place.is_there && place.owner == ::getpid();
        // other threads may be making files meanwhile
        for (int tries = 0; is_ours && tries < kTriesMax && ::rmdir(path) != 0; ++tries) {
            const int folder = ::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (folder < 0) {
                break;
            }
            remove_entries(folder, 1);
            ::close(folder);
        }
    }
}

void end_by(int signal) {
    remove_folders();
    ::signal(signal, SIG_DFL);
    ::raise(signal);  // it comes when this returns
}

// A program that waits for these signals itself removes its folders itself.
void clean_up_at_signals() {
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM}) {
        struct sigaction action {};
        if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) {
            action.sa_handler = end_by;
            ::sigaction(signal, &action, nullptr);
        }
    }
}

// Returns kPlaces when there is none: what a signal leaves of that folder stays.
std::size_t remember(const std::string& path) {
    static std::once_flag once;
    std::call_once(once, clean_up_at_signals);
    for (std::size_t i = 0; i < kPlaces && path.size() < PATH_MAX; ++i) {
        if (!places[i].is_taken.exchange(true)) {
            places[i].path.fill('\0');
            path.copy(places[i].path.data(), path.size());
            places[i].owner = ::getpid();
            places[i].is_there = true;
            return i;
        }
    }
    return kPlaces;
}

// Its owner locked it: if nobody holds the lock, the owner is dead.
constexpr mode_t kLockedByOwner = S_ISVTX;

bool is_ours_by_name(std::string_view name) {
    return name.size() == kPrefix.size() + kNameDigits && name.starts_with(kPrefix) &&
           name.find_first_not_of("0123456789abcdef", kPrefix.size()) == std::string_view::npos;
}

Fd lock_folder(const std::string& path) {
    Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder.valid() || ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0 ||
        ::fchmod(folder.get(), 0700 | kLockedByOwner) != 0) {
        return {};  // then it stays if its owner is killed
    }
    return folder;
}

void remove_orphans(const std::string& parent) {
    struct Close {
        void operator()(DIR* folders) const { ::closedir(folders); }
    };
    const std::unique_ptr<DIR, Close> folders(::opendir(parent.c_str()));
    while (const dirent* const entry = folders ? ::readdir(folders.get()) : nullptr) {
        if (!is_ours_by_name(entry->d_name)) {
            continue;
        }
        const Fd folder(::openat(::dirfd(folders.get()),
                                 entry->d_name,
                                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        struct stat seen {};
        if (folder.valid() && ::fstat(folder.get(), &seen) == 0 && seen.st_uid == ::geteuid() &&
            (seen.st_mode & kLockedByOwner) != 0 && ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) {
            remove_entries(folder.get(), 1);
            ::unlinkat(::dirfd(folders.get()), entry->d_name, AT_REMOVEDIR);
        }
    }
}

}  // namespace

TemporaryFolder::TemporaryFolder(std::string path)
    : path_(std::move(path)), place_(remember(path_)) {}

std::string TemporaryFolder::free_path() {
    const std::string parent = parent_path();
    remove_orphans(parent);
    std::random_device random;  // the kernel's
    return fmt::format("{}/{}{:08x}{:08x}", parent, kPrefix, random(), random());
}

Result<TemporaryFolder> TemporaryFolder::make(const std::string& free_path) {
    TemporaryFolder folder(free_path);  // before it is there, for a signal that comes in between
    if (::mkdir(free_path.c_str(), 0700) != 0) {
        const Error error = Error::from_errno(errno, "making '" + free_path + "'");
        folder.forget();  // it is somebody else's
        return error;
    }
    folder.lock_ = lock_folder(free_path);
    return folder;
}

Result<TemporaryFolder> TemporaryFolder::make() {
    return make(free_path());
}

TemporaryFolder::~TemporaryFolder() {
    if (path_.empty()) return;
    std::error_code ignored;  // what cannot be removed stays for the system's own cleaning of /tmp
    std::filesystem::remove_all(path_, ignored);
    forget();
}

void TemporaryFolder::forget() {
    path_.clear();
    if (place_ < kPlaces) {
        places[place_].is_there = false;
        places[place_].is_taken = false;
    }
}

}  // namespace dyetrace::base
