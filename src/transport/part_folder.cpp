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

constexpr std::string_view kSegmentPrefix = "segment-";
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
            TRY(const base::Fd file, base::open_file(path_ + "/" + name, O_RDONLY));
            TRY(base::sync_file(file));
            TRY(const std::uint64_t size, base::file_size(file));
            files.push_back({name, size});
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
    if (size == 0) {
        TRY(base::sync_folder(path_));
    }
    return &growing_.emplace(file, Growing{std::move(descriptor), size, false}).first->second;
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
    return base::write_file_atomically(path_ + "/trace.json", text);
}

std::vector<Unsynced> PartFolder::take_unsynced() {
    std::vector<Unsynced> unsynced;
    for (auto file = growing_.begin(); file != growing_.end();) {
        if (!std::exchange(file->second.unsynced, false)) {
            file = growing_.erase(file);
            continue;
        }
        base::Fd copy(::fcntl(file->second.descriptor.get(), F_DUPFD_CLOEXEC, 0));
        if (copy.valid()) {
            unsynced.push_back({file->first, std::move(copy), file->second.size});
        } else {
            file->second.unsynced = true;  // no descriptor left: the next time
        }
        ++file;
    }
    return unsynced;
}

void PartFolder::release() {
    growing_.clear();
    ::unlink((path_ + "/recording").c_str());
    recording_.reset();
}

}  // namespace dyetrace::transport
