#include "probes/debug_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>

#include <array>
#include <filesystem>
#include <vector>

#include "base/file.h"

namespace dyetrace::probes {
namespace {

// Fedora's largest is 2 MB compressed. A file may claim anything, so neither time nor memory is given without a bound.
constexpr std::size_t kMiniBytesMax = 256 << 20;
constexpr std::uint64_t kMiniDecoderBytesMax = 128 << 20;

// The sum that .gnu_debuglink has of the whole other file.
Result<std::uint32_t> sum_of_file(const std::string& path) {
    TRY(const base::Fd fd, base::open_file(path, O_RDONLY));
    std::vector<std::byte> piece(1 << 20);
    uLong sum = ::crc32(0, nullptr, 0);
    while (true) {
        TRY(const std::size_t size, base::read_up_to(fd, piece));
        sum = ::crc32(
            sum, reinterpret_cast<const unsigned char*>(piece.data()), static_cast<unsigned>(size));
        if (size < piece.size()) return static_cast<std::uint32_t>(sum);
    }
}

std::optional<ElfFile> of_same_build(const ElfFile& program,
                                     const std::string& path,
                                     std::optional<std::uint32_t> sum) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
    if (std::filesystem::equivalent(path, program.path(), ignored)) return std::nullopt;
    auto file = ElfFile::open(path);
    if (!file.ok()) return std::nullopt;
    const std::string& id = file.value().build_id();
    if (!program.build_id().empty() || !id.empty()) {
        return id == program.build_id() ? std::optional(std::move(file).value()) : std::nullopt;
    }
    const auto its_sum = sum_of_file(path);
    const bool is_same = sum && its_sum.ok() && its_sum.value() == *sum;
    return is_same ? std::optional(std::move(file).value()) : std::nullopt;
}

}  // namespace

std::optional<ElfFile> find_debug_file(const ElfFile& program, const std::string& debug_folder) {
    const std::string& id = program.build_id();
    if (id.size() > 2) {
        const std::string path =
            fmt::format("{}/.build-id/{}/{}.debug", debug_folder, id.substr(0, 2), id.substr(2));
        if (auto found = of_same_build(program, path, std::nullopt)) return found;
    }
    GElf_Word sum = 0;
    const char* link = dwelf_elf_gnu_debuglink(program.handle(), &sum);
    if (link == nullptr) return std::nullopt;
    std::error_code ignored;
    std::filesystem::path real = std::filesystem::canonical(program.path(), ignored);
    if (real.empty()) real = program.path();
    const std::string folder = real.parent_path();
    // Only its name counts: a link that leads elsewhere could make us read any file.
    const std::string name = std::filesystem::path(link).filename();
    for (const std::string& path : {fmt::format("{}/{}", folder, name),
                                    fmt::format("{}/.debug/{}", folder, name),
                                    fmt::format("{}{}/{}", debug_folder, folder, name)}) {
        if (auto found = of_same_build(program, path, sum)) return found;
    }
    return std::nullopt;
}

Result<std::optional<ElfFile>> mini_symbols(const ElfFile& program) {
    const auto section = program.section(".gnu_debugdata");
    if (!section) return std::optional<ElfFile>();
    const std::string name = program.path() + ": .gnu_debugdata";
    if (section->header.sh_size > kMiniBytesMax) {
        return Error(ErrorCode::kLimitReached, fmt::format("'{}' is too large", name));
    }
    const std::string_view packed = program.bytes_of(*section);
    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&stream, kMiniDecoderBytesMax, 0) != LZMA_OK) {
        return Error(ErrorCode::kOutOfMemory, fmt::format("no memory for '{}'", name));
    }
    stream.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
    stream.avail_in = packed.size();
    std::string bytes;
    std::array<std::uint8_t, 64 * 1024> piece;
    lzma_ret status = LZMA_OK;
    while (status == LZMA_OK && bytes.size() <= kMiniBytesMax) {
        stream.next_out = piece.data();
        stream.avail_out = piece.size();
        status = lzma_code(&stream, LZMA_FINISH);
        bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size() - stream.avail_out);
    }
    lzma_end(&stream);
    if (status != LZMA_STREAM_END) {
        return Error(status == LZMA_OK ? ErrorCode::kLimitReached : ErrorCode::kCorrupt,
                     fmt::format("'{}' cannot be unpacked", name));
    }
    TRY(ElfFile file, ElfFile::of_memory(std::move(bytes), name));
    return std::optional(std::move(file));
}

}  // namespace dyetrace::probes
