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

std::string flags(std::string_view type, std::uint64_t value) {
    return schema::flags_text(type, value);
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
void append_date(std::string& out, std::int64_t seconds, std::int64_t nanoseconds) {
    const std::time_t time = seconds;
    std::tm parts{};
    char date[32] = {}, zone[16] = {};
    if ((seconds == 0 && nanoseconds == 0) || localtime_r(&time, &parts) == nullptr) {
        return;
    }
    std::strftime(date, sizeof(date), "%FT%T", &parts);
    std::strftime(zone, sizeof(zone), "%z", &parts);
    print(out, " /* {}", date);
    if (nanoseconds != 0) {
        print(out, ".{:09}", nanoseconds);
    }
    print(out, "{} */", zone);
}

// S_IFDIR|S_ISVTX|0777
std::string mode_text(std::uint32_t mode) {
    std::string text = flags("mode", mode & ~07000u);
    const std::size_t at = text.rfind('|') == std::string::npos ? 0 : text.rfind('|') + 1;
    return text.insert(at,
                       fmt::format("{}{}{}",
                                   (mode & S_ISUID) != 0 ? "S_ISUID|" : "",
                                   (mode & S_ISGID) != 0 ? "S_ISGID|" : "",
                                   (mode & S_ISVTX) != 0 ? "S_ISVTX|" : ""));
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

void append_statx_rest(std::string& out, const struct statx& statx) {
    print(out,
          ", stx_blocks={}, stx_attributes_mask={:#x}",
          std::uint64_t{statx.stx_blocks},
          std::uint64_t{statx.stx_attributes_mask});
    const std::pair<std::string_view, statx_timestamp> times[] = {{"atime", statx.stx_atime},
                                                                  {"btime", statx.stx_btime},
                                                                  {"ctime", statx.stx_ctime},
                                                                  {"mtime", statx.stx_mtime}};
    for (const auto& [name, time] : times) {
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
}

bool append_time_or_word(std::string& out, std::string_view bytes, std::size_t at) {
    const auto seconds = read_at<std::int64_t>(bytes, at);
    const auto nanoseconds = read_at<std::int64_t>(bytes, at + 8);
    if (!seconds || !nanoseconds) {
        return false;
    }
    constexpr std::int64_t kNow = 0x3fffffff, kOmit = 0x3ffffffe;  // UTIME_NOW, UTIME_OMIT
    if (*nanoseconds == kNow || *nanoseconds == kOmit) {
        out.append(*nanoseconds == kNow ? "UTIME_NOW" : "UTIME_OMIT");
    } else {
        print(out, "{{tv_sec={}, tv_nsec={}}}", *seconds, *nanoseconds);
    }
    return true;
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
    print(out, "{{tv_sec={}, tv_nsec={}}}", *seconds, *nanoseconds);
    return true;
}

bool append_timespecs(std::string& out, std::string_view bytes) {
    if (bytes.size() < 32) {
        return false;
    }
    out.push_back('[');
    append_time_or_word(out, bytes, 0);
    out.append(", ");
    append_time_or_word(out, bytes, 16);
    out.push_back(']');
    return true;
}

bool append_timeval(std::string& out, std::string_view bytes) {
    const auto seconds = read_at<std::int64_t>(bytes);
    const auto microseconds = read_at<std::int64_t>(bytes, 8);
    if (!seconds || !microseconds) {
        return false;
    }
    print(out, "{{tv_sec={}, tv_usec={}}}", *seconds, *microseconds);
    return true;
}

bool append_stat(std::string& out, std::string_view bytes, bool whole) {
    const auto stat = read_at<Stat>(bytes);
    if (!stat) {
        return false;
    }
    constexpr std::uint32_t kTypeMask = 0170000, kCharacter = 0020000, kBlock = 0060000;
    const std::uint32_t type = stat->mode & kTypeMask;
    out.push_back('{');
    if (whole) {
        print(out, "st_dev={}, st_ino={}, ", device_text(stat->device), stat->inode);
    }
    print(out, "st_mode={}", mode_text(stat->mode));
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
        print(out, ", st_rdev={}", device_text(stat->rdev));
    } else {
        print(out, ", st_size={}", stat->size);
    }
    if (whole) {
        append_stat_times(out, *stat);
    }
    out.append(whole ? "}" : ", ...}");
    return true;
}

bool append_statx(std::string& out, std::string_view bytes, bool whole) {
    const auto statx = read_at<struct statx>(bytes);
    if (!statx) {
        return false;
    }
    print(out, "{{stx_mask={}", flags("statx_mask", statx->stx_mask));
    if (whole) {
        print(out, ", stx_blksize={}", statx->stx_blksize);
    }
    print(out,
          ", stx_attributes={}{:x}",
          statx->stx_attributes == 0 ? "" : "0x",
          std::uint64_t{statx->stx_attributes});
    if (whole) {
        print(out,
              ", stx_nlink={}, stx_uid={}, stx_gid={}",
              statx->stx_nlink,
              statx->stx_uid,
              statx->stx_gid);
    }
    print(out, ", stx_mode={}", mode_text(statx->stx_mode));
    if (whole) {
        print(out, ", stx_ino={}", std::uint64_t{statx->stx_ino});
    }
    print(out, ", stx_size={}", std::uint64_t{statx->stx_size});
    if (whole) {
        append_statx_rest(out, *statx);
    }
    out.append(whole ? "}" : ", ...}");
    return true;
}

bool append_statfs(std::string& out, std::string_view bytes, bool whole) {
    const auto statfs = read_at<struct statfs>(bytes);
    if (!statfs) {
        return false;
    }
    const auto magic = static_cast<std::uint64_t>(statfs->f_type);
    const std::string_view name = file_system_name(magic);
    print(out,
          "{{f_type={}, f_bsize={}, f_blocks={}, f_bfree={}, f_bavail={}, f_files={}, f_ffree={}, ",
          name.empty() ? fmt::format("{:#x}", magic) : std::string(name),
          statfs->f_bsize,
          statfs->f_blocks,
          statfs->f_bfree,
          statfs->f_bavail,
          statfs->f_files,
          statfs->f_ffree);
    if (whole) {
        const auto id =
            *read_at<std::array<std::uint32_t, 2>>(bytes, offsetof(struct statfs, f_fsid));
        print(out,
              "f_fsid={{val=[{}, {}]}}, f_namelen={}, f_frsize={}, f_flags={:#x}}}",
              hex(id[0]),
              hex(id[1]),
              statfs->f_namelen,
              statfs->f_frsize,
              statfs->f_flags);
    } else {
        out.append("...}");
    }
    return true;
}

bool append_open_how(std::string& out, std::string_view bytes) {
    const auto how = read_at<open_how>(bytes);
    if (!how) {
        return false;
    }
    print(out, "{{flags={}", flags("open_flags", how->flags));
    if ((how->flags & (0100 | 020000000)) != 0) {  // O_CREAT, __O_TMPFILE
        print(out, ", mode={}", flags("mode", how->mode));
    }
    print(out, ", resolve={}}}", flags("resolve_flags", how->resolve));
    return true;
}

bool append_flock(std::string& out, std::string_view bytes, bool with_pid) {
    const auto lock = read_at<struct flock>(bytes);
    if (!lock) {
        return false;
    }
    print(out,
          "{{l_type={}, l_whence={}, l_start={}, l_len={}",
          flags("lock_type", static_cast<std::uint16_t>(lock->l_type)),
          flags("seek_whence", static_cast<std::uint16_t>(lock->l_whence)),
          lock->l_start,
          lock->l_len);
    if (with_pid) {
        print(out, ", l_pid={}", lock->l_pid);
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

bool append_texts(std::string& out, std::string_view bytes, const Limits& limits) {
    const auto count = read_at<std::uint64_t>(bytes, 0);
    if (!count) {
        return false;
    }
    std::string_view rest = bytes.substr(sizeof(*count));
    out.push_back('[');
    std::uint64_t shown = 0;
    for (; shown < std::min<std::uint64_t>(*count, limits.items_max) && !rest.empty(); ++shown) {
        const std::size_t end = std::min(rest.find('\0'), rest.size());
        out.append(shown > 0 ? ", " : "");
        append_quoted(out, rest.substr(0, end), limits.text_max);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    end_array(out, shown > 0, shown < *count);
    return true;
}

bool append_variable_count(std::string& out, std::string_view bytes) {
    const auto count = read_at<std::uint64_t>(bytes, 0);
    if (count) {
        print(out, " /* {} var{} */", *count, *count == 1 ? "" : "s");
    }
    return count.has_value();
}

bool append_pollfds(std::string& out,
                    std::string_view bytes,
                    std::size_t count,
                    bool returned,
                    const Limits& limits) {
    constexpr std::size_t kSize = 8;  // struct pollfd: int fd, short events, short revents
    if (bytes.size() < kSize) {
        return false;
    }
    out.push_back('[');
    std::size_t shown = 0, seen = 0;
    for (; shown < limits.items_max && (seen + 1) * kSize <= bytes.size(); ++seen) {
        const int fd = *read_at<int>(bytes, seen * kSize);
        const auto events = *read_at<std::uint16_t>(bytes, seen * kSize + 4);
        const auto ready = *read_at<std::uint16_t>(bytes, seen * kSize + 6);
        if (returned && ready == 0) {
            continue;
        }
        print(out,
              "{}{{fd={}, {}={}}}",
              shown > 0 ? ", " : "",
              fd,
              returned ? "revents" : "events",
              flags("poll_events", returned ? ready : events));
        ++shown;
    }
    end_array(out, shown > 0, seen < count);
    return true;
}

bool append_epoll_event(std::string& out, std::string_view bytes) {
    const auto events = read_at<std::uint32_t>(bytes);
    const auto data = read_at<std::uint64_t>(bytes, 4);  // packed
    if (!events || !data) {
        return false;
    }
    print(out,
          "{{events={}, data={{u32={}, u64={}}}}}",
          flags("epoll_mask", *events),
          static_cast<std::uint32_t>(*data),
          *data);
    return true;
}

bool append_epoll_events(std::string& out,
                         std::string_view bytes,
                         std::size_t count,
                         const Limits& limits) {
    constexpr std::size_t kSize = 12;
    const std::size_t shown = std::min({count, limits.items_max, bytes.size() / kSize});
    out.push_back('[');
    for (std::size_t i = 0; i < shown; ++i) {
        out.append(i > 0 ? ", " : "");
        append_epoll_event(out, bytes.substr(i * kSize, kSize));
    }
    end_array(out, shown > 0, count > shown);
    return true;
}

}  // namespace dyetrace::format
