#include "base/mapping.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/file.h"

namespace dyetrace::base {

Result<Mapping> Mapping::of_file(const std::string& path) {
    TRY(const Fd file, open_file(path, O_RDONLY));
    TRY(const uint64_t size, file_size(file));
    if (size == 0) return Mapping();
    return make(size, PROT_READ, MAP_PRIVATE, file.get(), 0)
        .with_context(fmt::format("mapping '{}'", path));
}

Result<Mapping> Mapping::make(size_t size, int protection, int flags, int fd, off_t offset) {
    void* const begin = ::mmap(nullptr, size, protection, flags, fd, offset);
    if (begin == MAP_FAILED) {
        return Error::from_errno(errno, fmt::format("mapping {} bytes", size));
    }
    return Mapping({static_cast<std::byte*>(begin), size});
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
    if (this != &other) {
        reset();
        bytes_ = std::exchange(other.bytes_, {});
    }
    return *this;
}

void Mapping::reset() {
    if (bytes_.empty()) return;
    CHECK(::munmap(bytes_.data(), bytes_.size()) == 0);
    bytes_ = {};
}

}  // namespace dyetrace::base
