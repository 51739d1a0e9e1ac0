#include "format/structure.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <iterator>
#include <optional>
#include <span>

#include "format/bytes.h"
#include "format/quote.h"
#include "schema/flags.h"

namespace dyetrace::format {
namespace {

std::string flags(std::string_view type, std::uint64_t value, const Limits& limits = {}) {
    return constant_text(type, value, limits.constants);
}

// struct stat of x86_64; <sys/stat.h> and <linux/stat.h> do not go together.
struct Stat {
    std::uint64_t device, inode, links;
    std::uint32_t mode, uid, gid, padding;
    std::uint64_t rdev;
    std::int64_t size, block_size, blocks;
    struct {
        std::int64_t seconds, nanoseconds;
    } times[3];  // of access, modification, change
};
static_assert(sizeof(Stat) == 120);

//  /* 2026-11-21T12:42:19.335270604+0000 */   in local time; nothing for 0
void append_date(std::string& out, std::int64_t seconds, std::int64_t fraction, int digits = 9) {
    const std::time_t time = seconds;
    std::tm parts{};
    char date[32] = {}, zone[16] = {};
    if ((seconds == 0 && fraction == 0) || localtime_r(&time, &parts) == nullptr) {
        return;
    }
    std::strftime(date, sizeof(date), "%FT%T", &parts);
    std::strftime(zone, sizeof(zone), "%z", &parts);
    print(out, " /* {}", date);
    if (fraction != 0) {
        print(out, ".{:0{}}", fraction, digits);
    }
    print(out, "{} */", zone);
}

void append_stat_times(std::string& out, const Stat& stat) {
    static constexpr std::string_view kNames[] = {"atime", "mtime", "ctime"};
    for (std::size_t i = 0; i < std::size(kNames); ++i) {
        const auto& time = stat.times[i];
        print(out, ", st_{}={}", kNames[i], time.seconds);
        append_date(out, time.seconds, time.nanoseconds);
        print(out, ", st_{}_nsec={}", kNames[i], time.nanoseconds);
    }
}

// Times are shown where the kernel says that it filled them in.
void append_statx_rest(std::string& out, const struct statx& statx, const Limits& limits) {
    struct Time {
        std::string_view name;
        std::uint32_t bit;
        statx_timestamp time;
    };
    print(out,
          ", stx_blocks={}, stx_attributes_mask={}",
          std::uint64_t{statx.stx_blocks},
          flags("statx_attributes", statx.stx_attributes_mask, limits));
    const Time times[] = {{"atime", STATX_ATIME, statx.stx_atime},
                          {"btime", STATX_BTIME, statx.stx_btime},
                          {"ctime", STATX_CTIME, statx.stx_ctime},
                          {"mtime", STATX_MTIME, statx.stx_mtime}};
    for (const auto& [name, bit, time] : times) {
        if ((statx.stx_mask & bit) == 0) {
            continue;
        }
        print(out,
              ", stx_{}={{tv_sec={}, tv_nsec={}}}",
              name,
              std::int64_t{time.tv_sec},
              time.tv_nsec);
        append_date(out, time.tv_sec, time.tv_nsec);
    }
    print(out,
          ", stx_rdev_major={}, stx_rdev_minor={}, stx_dev_major={}, stx_dev_minor={}",
          statx.stx_rdev_major,
          statx.stx_rdev_minor,
          statx.stx_dev_major,
          statx.stx_dev_minor);
    constexpr std::uint32_t kHasMount = 0x1000;  // STATX_MNT_ID
    constexpr std::size_t kMountAt = 144;
    if ((statx.stx_mask & kHasMount) != 0) {
        const std::string_view bytes(reinterpret_cast<const char*>(&statx), sizeof(statx));
        print(out, ", stx_mnt_id={}", hex(*read_at<std::uint64_t>(bytes, kMountAt)));
    }
}

// {tv_sec=1, tv_nsec=2} /* 1970-01-01T00:00:01.000000002+0000 */
void append_dated(std::string& out,
                  std::string_view unit,
                  std::int64_t seconds,
                  std::int64_t fraction) {
    const bool in_nanoseconds = unit == "nsec";
    print(out, "{{tv_sec={}, tv_{}={}}}", seconds, unit, static_cast<std::uint64_t>(fraction));
    const std::int64_t fraction_max = in_nanoseconds ? 1'000'000'000 : 1'000'000;
    if (fraction >= 0 && fraction < fraction_max) {
        append_date(out, seconds, fraction, in_nanoseconds ? 9 : 6);
    }
}

bool append_time_or_word(std::string& out,
                         std::string_view bytes,
                         std::size_t at,
                         Constants constants) {
    const auto seconds = read_at<std::int64_t>(bytes, at);
    const auto nanoseconds = read_at<std::int64_t>(bytes, at + 8);
    if (!seconds || !nanoseconds) {
        return false;
    }
    constexpr std::int64_t kNow = 0x3fffffff, kOmit = 0x3ffffffe;  // UTIME_NOW, UTIME_OMIT
    const bool is_word = *nanoseconds == kNow || *nanoseconds == kOmit;
    if (is_word && constants == Constants::kNames) {
        out.append(*nanoseconds == kNow ? "UTIME_NOW" : "UTIME_OMIT");
        return true;
    }
    append_dated(out, "nsec", *seconds, *nanoseconds);
    if (is_word && constants == Constants::kBoth) {
        print(out, " /* {} */", *nanoseconds == kNow ? "UTIME_NOW" : "UTIME_OMIT");
    }
    return true;
}

// What follows the members that are known here, as far as it was captured.
void append_nonzero_rest(std::string& out,
                         std::string_view bytes,
                         std::size_t known,
                         std::uint64_t size) {
    if (size <= known) {
        return;
    }
    const std::string_view rest = bytes.substr(std::min(bytes.size(), known));
    if (rest.size() < size - known) {
        out.append(", ???");
    } else if (rest.find_first_not_of('\0') != std::string_view::npos) {
        print(out, ", /* bytes {}..{} */ ", known, size - 1);
        append_quoted(out, rest, size, false, Quotes::kHex);
    }
}

std::string_view file_system_name(std::uint64_t magic) {
    switch (magic) {
        case 0xef53:
            return "EXT2_SUPER_MAGIC";
        case 0x01021994:
            return "TMPFS_MAGIC";
        case 0x794c7630:
            return "OVERLAYFS_SUPER_MAGIC";
        case 0x9123683e:
            return "BTRFS_SUPER_MAGIC";
        case 0x58465342:
            return "XFS_SUPER_MAGIC";
        case 0x9fa0:
            return "PROC_SUPER_MAGIC";
        case 0x62656572:
            return "SYSFS_MAGIC";
        case 0x6969:
            return "NFS_SUPER_MAGIC";
        case 0x63677270:
            return "CGROUP2_SUPER_MAGIC";
        default:
            return {};
    }
}

}  // namespace

std::string hex(std::uint64_t value) {
    return value == 0 ? "0" : fmt::format("{:#x}", value);
}

std::string pointer_text(std::uint64_t address) {
    return address == 0 ? "NULL" : hex(address);
}

std::string device_text(std::uint64_t device) {
    return fmt::format("makedev({}, {})",
                       hex((device >> 8) & 0xfff),
                       hex((device & 0xff) | ((device >> 12) & 0xfff00)));
}

bool append_timespec(std::string& out, std::string_view bytes) {
    const auto seconds = read_at<std::int64_t>(bytes);
    const auto nanoseconds = read_at<std::int64_t>(bytes, 8);
    if (!seconds || !nanoseconds) {
        return false;
    }
    print(out, "{{tv_sec={}, tv_nsec={}}}", *seconds, static_cast<std::uint64_t>(*nanoseconds));
    return true;
}

bool append_timespecs(std::string& out, std::string_view bytes, const Limits& limits) {
    if (bytes.size() < 32) {
        return false;
    }
    out.push_back('[');
    append_time_or_word(out, bytes, 0, limits.constants);
    out.append(", ");
    append_time_or_word(out, bytes, 16, limits.constants);
    out.push_back(']');
    return true;
}

bool append_timevals(std::string& out, std::string_view bytes) {
    if (bytes.size() < 32) {
        return false;
    }
    out.push_back('[');
    append_dated(out, "usec", *read_at<std::int64_t>(bytes), *read_at<std::int64_t>(bytes, 8));
    out.append(", ");
    append_dated(out, "usec", *read_at<std::int64_t>(bytes, 16), *read_at<std::int64_t>(bytes, 24));
    out.push_back(']');
    return true;
}

bool append_utimbuf(std::string& out, std::string_view bytes) {
    const auto accessed = read_at<std::int64_t>(bytes), modified = read_at<std::int64_t>(bytes, 8);
    if (!accessed || !modified) {
        return false;
    }
    print(out, "{{actime={}", *accessed);
    append_date(out, *accessed, 0);
    print(out, ", modtime={}", *modified);
    append_date(out, *modified, 0);
    out.push_back('}');
    return true;
}

bool append_timeval(std::string& out, std::string_view bytes) {
    const auto seconds = read_at<std::int64_t>(bytes);
    const auto microseconds = read_at<std::int64_t>(bytes, 8);
    if (!seconds || !microseconds) {
        return false;
    }
    print(out, "{{tv_sec={}, tv_usec={}}}", *seconds, static_cast<std::uint64_t>(*microseconds));
    return true;
}

bool append_stat(std::string& out, std::string_view bytes, bool whole, const Limits& limits) {
    const auto stat = read_at<Stat>(bytes);
    if (!stat) {
        return false;
    }
    constexpr std::uint32_t kTypeMask = 0170000, kCharacter = 0020000, kBlock = 0060000;
    const std::uint32_t type = stat->mode & kTypeMask;
    out.push_back('{');
    if (whole) {
        print(out,
              "st_dev={}, st_ino={}, ",
              constant_text(hex(stat->device), device_text(stat->device), limits.constants),
              stat->inode);
    }
    print(out, "st_mode={}", mode_text(stat->mode, limits.constants));
    if (whole) {
        print(out,
              ", st_nlink={}, st_uid={}, st_gid={}, st_blksize={}, st_blocks={}",
              stat->links,
              stat->uid,
              stat->gid,
              stat->block_size,
              stat->blocks);
    }
    if (type == kCharacter || type == kBlock) {
        print(out,
              ", st_rdev={}",
              constant_text(hex(stat->rdev), device_text(stat->rdev), limits.constants));
    } else {
        print(out, ", st_size={}", stat->size);
    }
    if (whole) {
        append_stat_times(out, *stat);
    }
    out.append(whole ? "}" : ", ...}");
    return true;
}

bool append_statx(std::string& out, std::string_view bytes, bool whole, const Limits& limits) {
    const auto statx = read_at<struct statx>(bytes);
    if (!statx) {
        return false;
    }
    print(out, "{{stx_mask={}", flags("statx_mask", statx->stx_mask, limits));
    if (whole) {
        print(out, ", stx_blksize={}", statx->stx_blksize);
    }
    print(out, ", stx_attributes={}", flags("statx_attributes", statx->stx_attributes, limits));
    if (whole) {
        print(out,
              ", stx_nlink={}, stx_uid={}, stx_gid={}",
              statx->stx_nlink,
              statx->stx_uid,
              statx->stx_gid);
    }
    print(out, ", stx_mode={}", mode_text(statx->stx_mode, limits.constants));
    if (whole) {
        print(out, ", stx_ino={}", std::uint64_t{statx->stx_ino});
    }
    print(out, ", stx_size={}", std::uint64_t{statx->stx_size});
    if (whole) {
        append_statx_rest(out, *statx, limits);
    }
    out.append(whole ? "}" : ", ...}");
    return true;
}

bool append_statfs(std::string& out, std::string_view bytes, const Limits& limits) {
    const auto statfs = read_at<struct statfs>(bytes);
    if (!statfs) {
        return false;
    }
    const auto magic = static_cast<std::uint64_t>(statfs->f_type);
    const std::string_view name = file_system_name(magic);
    const auto id = *read_at<std::array<std::uint32_t, 2>>(bytes, offsetof(struct statfs, f_fsid));
    print(out,
          "{{f_type={}, f_bsize={}, f_blocks={}, f_bfree={}, f_bavail={}, f_files={}, f_ffree={}, "
          "f_fsid={{val=[{}, {}]}}, f_namelen={}, f_frsize={}",
          constant_text(hex(magic), name.empty() ? hex(magic) : name, limits.constants),
          statfs->f_bsize,
          statfs->f_blocks,
          statfs->f_bfree,
          statfs->f_bavail,
          statfs->f_files,
          statfs->f_ffree,
          hex(id[0]),
          hex(id[1]),
          statfs->f_namelen,
          statfs->f_frsize);
    constexpr std::uint64_t kFlagsAreValid = 0x20;  // ST_VALID
    const auto mount = static_cast<std::uint64_t>(statfs->f_flags);
    if ((mount & kFlagsAreValid) != 0) {
        print(out, ", f_flags={}", flags("statfs_flags", mount, limits));
    }
    out.push_back('}');
    return true;
}

bool append_open_how(std::string& out,
                     std::string_view bytes,
                     std::uint64_t size,
                     const Limits& limits) {
    const auto how = read_at<open_how>(bytes);
    if (!how || size < sizeof(open_how)) {
        return false;
    }
    print(out, "{{flags={}", flags("open_flags", how->flags, limits));
    if ((how->flags & (0100 | 020000000)) != 0 || how->mode != 0) {  // O_CREAT, __O_TMPFILE
        print(out, ", mode={}", octal_text(how->mode));
    }
    print(out, ", resolve={}", flags("resolve_flags", how->resolve, limits));
    append_nonzero_rest(out, bytes, sizeof(open_how), size);
    out.push_back('}');
    return true;
}

bool append_flock(std::string& out, std::string_view bytes, bool with_pid, const Limits& limits) {
    const auto lock = read_at<struct flock>(bytes);
    if (!lock) {
        return false;
    }
    print(out,
          "{{l_type={}, l_whence={}, l_start={}, l_len={}",
          flags("lock_type", static_cast<std::uint16_t>(lock->l_type), limits),
          flags("seek_whence", static_cast<std::uint16_t>(lock->l_whence), limits),
          lock->l_start,
          lock->l_len);
    if (with_pid) {
        out.append(", l_pid=");
        limits.pids.append(out, lock->l_pid);
    }
    out.push_back('}');
    return true;
}

bool append_wait_status(std::string& out, std::string_view bytes) {
    const auto status = read_at<int>(bytes);
    if (!status) {
        return false;
    }
    if (WIFEXITED(*status)) {
        print(out, "[{{WIFEXITED(s) && WEXITSTATUS(s) == {}}}]", WEXITSTATUS(*status));
    } else if (WIFSIGNALED(*status)) {
        print(out,
              "[{{WIFSIGNALED(s) && WTERMSIG(s) == {}{}}}]",
              flags("signal", static_cast<unsigned>(WTERMSIG(*status))),
              WCOREDUMP(*status) ? " && WCOREDUMP(s)" : "");
    } else if (WIFSTOPPED(*status)) {
        print(out,
              "[{{WIFSTOPPED(s) && WSTOPSIG(s) == {}}}]",
              flags("signal", static_cast<unsigned>(WSTOPSIG(*status))));
    } else if (WIFCONTINUED(*status)) {
        out.append("[{WIFCONTINUED(s)}]");
    } else {
        print(out, "[{:#x}]", static_cast<unsigned>(*status));
    }
    return true;
}

bool append_int_pair(std::string& out, std::string_view bytes) {
    const auto first = read_at<int>(bytes);
    const auto second = read_at<int>(bytes, sizeof(int));
    if (!first || !second) {
        return false;
    }
    print(out, "[{}, {}]", *first, *second);
    return true;
}

bool append_int(std::string& out, std::string_view bytes) {
    const auto value = read_at<std::int32_t>(bytes);
    if (value) {
        print(out, "[{}]", *value);
    }
    return value.has_value();
}

bool append_long(std::string& out, std::string_view bytes) {
    const auto value = read_at<std::int64_t>(bytes);
    if (value) {
        print(out, "[{}]", *value);
    }
    return value.has_value();
}

void end_array(std::string& out, bool after_some, bool before_others) {
    out.append(before_others && after_some ? ", " : "").append(before_others ? "...]" : "]");
}

void end_array_at(std::string& out, std::uint64_t address) {
    print(out, ", ... /* {} */]", hex(address));
}

bool append_owner(std::string& out, std::string_view bytes, const Limits& limits) {
    const auto type = read_at<std::uint32_t>(bytes);
    const auto pid = read_at<std::int32_t>(bytes, 4);
    if (type && pid) {
        constexpr std::uint32_t kGroup = 2;  // F_OWNER_PGRP
        print(out, "{{type={}, pid=", flags("owner_type", *type, limits));
        if (*type < kGroup) {
            limits.pids.append(out, *pid);
        } else if (*type == kGroup) {
            limits.pids.append_group(out, *pid);
        } else {
            out.append(std::to_string(*pid));
        }
        out.push_back('}');
    }
    return type && pid;
}

bool append_extents(std::string& out, std::string_view bytes, bool mapped, const Limits& limits) {
    struct Extents {
        std::uint64_t start, length;
        std::uint32_t flags, mapped, count, reserved;
    };
    const auto map = read_at<Extents>(bytes);
    if (!map) {
        return false;
    }
    print(out,
          "{{fm_start={}, fm_length={}, fm_flags={}, fm_extent_count={}}}",
          map->start,
          map->length,
          flags("extent_flags", map->flags, limits),
          map->count);
    if (mapped) {
        print(out,
              " => {{fm_flags={}, fm_mapped_extents={}, ...}}",
              flags("extent_flags", map->flags, limits),
              map->mapped);
    }
    return true;
}

}  // namespace dyetrace::format
