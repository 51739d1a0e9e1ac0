#include "format/layout.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "format/bytes.h"

namespace dyetrace::format {
namespace {

using schema::Abi;

// struct stat of <asm-generic/stat.h>, and where x86-64 has its members.
struct GenericStat {
    std::uint64_t device, inode;
    std::uint32_t mode, links, uid, gid;
    std::uint64_t rdev, padding;
    std::int64_t size;
    std::int32_t block_size, padding2;
    std::int64_t blocks, times[6];
};
static_assert(sizeof(GenericStat) == 120);

struct CommonStat {
    std::uint64_t device, inode, links;
    std::uint32_t mode, uid, gid, padding;
    std::uint64_t rdev;
    std::int64_t size, block_size, blocks, times[6];
};
static_assert(sizeof(CommonStat) == 120);

std::string common_stat(std::string_view bytes) {
    const auto stat = read_at<GenericStat>(bytes);
    if (!stat) {
        return {};
    }
    CommonStat common{.device = stat->device,
                      .inode = stat->inode,
                      .links = stat->links,
                      .mode = stat->mode,
                      .uid = stat->uid,
                      .gid = stat->gid,
                      .padding = 0,
                      .rdev = stat->rdev,
                      .size = stat->size,
                      .block_size = stat->block_size,
                      .blocks = stat->blocks,
                      .times = {}};
    std::copy(std::begin(stat->times), std::end(stat->times), std::begin(common.times));
    return {reinterpret_cast<const char*>(&common), sizeof(common)};
}

// x86-64 packs them.
std::string packed_events(std::string_view bytes) {
    constexpr std::size_t kPadded = 16, kDataAt = 8;
    std::string packed;
    for (std::size_t at = 0; at + kPadded <= bytes.size(); at += kPadded) {
        packed.append(bytes.substr(at, sizeof(std::uint32_t)));
        packed.append(bytes.substr(at + kDataAt, sizeof(std::uint64_t)));
    }
    return packed;
}

std::string common_open_how(Abi abi, std::string_view bytes) {
    std::string common(bytes);
    if (const auto flags = read_at<std::uint64_t>(bytes)) {
        const std::uint64_t numbered = common_open_flags(abi, *flags);
        std::memcpy(common.data(), &numbered, sizeof(numbered));
    }
    return common;
}

}  // namespace

std::string common_layout(Abi abi, std::string_view type, std::string_view bytes) {
    if (abi == Abi::kArm64 && type == "stat_out") {
        return common_stat(bytes);
    }
    if (abi == Abi::kArm64 && (type == "epoll_event" || type == "epoll_events")) {
        return packed_events(bytes);
    }
    return type == "open_how" ? common_open_how(abi, bytes) : std::string(bytes);
}

// On ARM O_DIRECTORY and O_NOFOLLOW are the bits that elsewhere are O_DIRECT and O_LARGEFILE, and the other way round.
std::uint64_t common_open_flags(Abi abi, std::uint64_t flags) {
    constexpr std::uint64_t kLower = 0xc000, kUpper = 0x30000;
    constexpr int kDistance = 2;
    if (abi != Abi::kArm64 && abi != Abi::kArm) {
        return flags;
    }
    return (flags & ~(kLower | kUpper)) | (flags & kLower) << kDistance |
           (flags & kUpper) >> kDistance;
}

}  // namespace dyetrace::format
