#include "transport/part_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file.h"

namespace dyetrace::transport {
namespace {

constexpr std::string_view kSegmentSuffix = ".seg";
constexpr std::size_t kSegmentDigitsMax = 7;  // as trace::kSegmentsMax

std::string_view digits_of(std::string_view file) {
    file.remove_prefix(kSegmentPrefix.size());
    file.remove_suffix(kSegmentSuffix.size());
    return file;
}

bool is_segment(std::string_view file) {
    if (!file.starts_with(kSegmentPrefix) || !file.ends_with(kSegmentSuffix) ||
        file.size() < kSegmentPrefix.size() + kSegmentSuffix.size() + 6) {
        return false;
    }
    const std::string_view digits = digits_of(file);
    return digits.size() <= kSegmentDigitsMax &&
           std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool is_growing_file(std::string_view name) {
    return name == "payload" || is_segment(name);
}

Result<PartFolder> PartFolder::open(const std::string& path) {
    TRY(base::make_folders(path));
    TRY(base::Fd recording, base::open_file(path + "/recording", O_RDWR | O_CREAT));
    if (::flock(recording.get(), LOCK_EX | LOCK_NB) != 0) {
        return Error::from_errno(errno, fmt::format("cannot lock '{}/recording'", path));
    }
    return PartFolder(path, std::move(recording));
}

bool PartFolder::is_sealed(const std::string& file) const {
    struct stat status {};
    return is_segment(file) &&
           ::stat(fmt::format("{}/sealed-{}", path_, digits_of(file)).c_str(), &status) == 0;
}

Result<std::vector<Arrived>> PartFolder::durable_sizes() const {
    TRY(const std::vector<std::string> names, base::list_folder(path_));
    std::vector<Arrived> files;
    for (const std::string& name : names) {
        if (name.starts_with("sealed-")) {
            files.push_back({fmt::format("segment-{}.seg", name.substr(7)), kWholeFile});
        } else if (is_growing_file(name) && !is_sealed(name)) {
            // one that does not grow was synced before it was closed
            const auto growing = growing_.find(name);
            struct stat status {};
            if (growing == growing_.end() && ::stat((path_ + "/" + name).c_str(), &status) != 0) {
                return Error::from_errno(errno, fmt::format("looking at '{}/{}'", path_, name));
            }
            files.push_back({name,
                             growing == growing_.end() ? static_cast<std::uint64_t>(status.st_size)
                                                       : growing->second.durable});
        }
    }
    return files;
}

Result<PartFolder::Growing*> PartFolder::growing(const std::string& file) {
    const auto known = growing_.find(file);
    if (known != growing_.end()) {
        return &known->second;
    }
    const std::string path = path_ + "/" + file;
    // payload holds what programs read and wrote
    const mode_t mode = file == "payload" ? 0600 : 0644;
    TRY(base::Fd descriptor, base::open_file(path, O_WRONLY | O_CREAT | O_APPEND, mode));
    TRY(const std::uint64_t size, base::file_size(descriptor));
    return &growing_.emplace(file, Growing{std::move(descriptor), size, size, false, size == 0})
                .first->second;
}

Result<std::uint64_t> PartFolder::size_of(const std::string& file) {
    if (is_sealed(file)) {
        return kWholeFile;
    }
    TRY(const Growing* const known, growing(file));
    return known->size;
}

Result<std::uint64_t> PartFolder::append(const std::string& file,
                                         std::uint64_t offset,
                                         std::span<const std::byte> bytes) {
    if (is_sealed(file)) {
        return kWholeFile;
    }
    TRY(Growing* const into, growing(file));
    if (offset > into->size || offset + bytes.size() <= into->size) {
        return into->size;
    }
    const auto beyond = bytes.subspan(into->size - offset);
    if (Result<void> written = base::write_all(into->descriptor, beyond); !written.ok()) {
        static_cast<void>(::ftruncate(into->descriptor.get(), static_cast<off_t>(into->size)) == 0);
        return std::move(written).error().with_context(fmt::format("writing '{}/{}'", path_, file));
    }
    into->size += beyond.size();
    into->unsynced = true;
    return into->size;
}

Result<void> PartFolder::replace_info(std::string_view text) {
    TRY(base::Fd draft, base::open_file(draft_path(), O_WRONLY | O_CREAT | O_TRUNC));
    TRY(base::write_all(draft, base::bytes_of(text))
            .with_context(fmt::format("writing '{}'", draft_path())));
    info_ = Draft{std::move(draft), text.size(), ++drafts_};
    return {};
}

bool PartFolder::put_info(std::uint64_t draft) {
    if (!info_ || info_->number != draft ||
        ::rename(draft_path().c_str(), (path_ + "/trace.json").c_str()) != 0) {
        return false;
    }
    info_.reset();
    return true;
}

// What finds no descriptor left is taken the next time.
std::vector<Unsynced> PartFolder::take_unsynced() {
    const auto copy_of = [](const base::Fd& descriptor) {
        return base::Fd(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 0));
    };
    std::vector<Unsynced> unsynced;
    for (auto file = growing_.begin(); file != growing_.end();) {
        Growing& growing = file->second;
        if (!growing.unsynced) {
            file = growing_.erase(file);
            continue;
        }
        if (base::Fd copy = copy_of(growing.descriptor); copy.valid()) {
            growing.unsynced = false;
            unsynced.push_back({file->first,
                                std::move(copy),
                                growing.size,
                                std::exchange(growing.is_new, false) ? path_ : ""});
        }
        ++file;
    }
    if (info_) {
        if (base::Fd copy = copy_of(info_->descriptor); copy.valid()) {
            unsynced.push_back({"trace.json", std::move(copy), info_->size, path_, info_->number});
        }
    }
    return unsynced;
}

void PartFolder::synced(const Unsynced& file) {
    if (const auto growing = growing_.find(file.file); growing != growing_.end()) {
        growing->second.durable = std::max(growing->second.durable, file.size);
    }
}

// A draft that nobody has waited for yet is waited for here: it is the last thing that an agent sends, and rarely still to be done.
void PartFolder::release() {
    if (info_ && base::sync_file(info_->descriptor).ok() && put_info(info_->number)) {
        static_cast<void>(base::sync_folder(path_).ok());
    }
    growing_.clear();
    ::unlink((path_ + "/recording").c_str());
    recording_.reset();
}

}  // namespace dyetrace::transport
