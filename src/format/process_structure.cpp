// What calls about processes, times and the machine are handed: clone_args, utsname, sysinfo, rusage, timers, CPUs, capabilities.
#include <linux/sched.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <array>
#include <cstdint>
#include <span>

#include "format/bytes.h"
#include "format/quote.h"
#include "format/structure.h"
#include "schema/flags.h"

namespace dyetrace::format {
namespace {

struct CloneArguments {
    std::uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
        set_tid_size, cgroup;
};

// `permitted` and the others hold 32 capabilities each; a second triple has the upper ones.
struct Capabilities {
    std::uint32_t effective, permitted, inheritable;
};

void append_text_field(std::string& out, std::string_view name, std::string_view field) {
    out.append(name).push_back('=');
    append_quoted(out, field.substr(0, field.find('\0')), field.size());
}

std::string capabilities_text(std::uint64_t set) {
    std::string text;
    for (unsigned number = 0; number < 64; ++number) {
        if ((set >> number & 1) != 0) {
            print(
                text, "{}1<<{}", text.empty() ? "" : "|", schema::flags_text("capability", number));
        }
    }
    return text.empty() ? "0" : text;
}

// {it_interval={…}, it_value={…}}
bool append_timer(std::string& out,
                  std::string_view bytes,
                  bool (*append_time)(std::string&, std::string_view)) {
    constexpr std::size_t kTime = 16;
    if (bytes.size() < 2 * kTime) {
        return false;
    }
    out.append("{it_interval=");
    append_time(out, bytes.substr(0, kTime));
    out.append(", it_value=");
    append_time(out, bytes.substr(kTime));
    out.push_back('}');
    return true;
}

}  // namespace

bool append_clone_args(std::string& out,
                       std::string_view bytes,
                       std::int64_t result,
                       const Limits& limits) {
    if (bytes.size() < CLONE_ARGS_SIZE_VER0) {
        return false;
    }
    CloneArguments args{};
    std::memcpy(&args, bytes.data(), std::min(bytes.size(), sizeof(args)));
    print(out, "{{flags={}", schema::flags_text("clone_flags", args.flags & ~0xffull));
    if ((args.flags & CLONE_PIDFD) != 0) {
        print(out, ", pidfd={}", pointer_text(args.pidfd));
    }
    if ((args.flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID)) != 0) {
        print(out, ", child_tid={}", pointer_text(args.child_tid));
    }
    if ((args.flags & CLONE_PARENT_SETTID) != 0) {
        print(out, ", parent_tid={}", pointer_text(args.parent_tid));
    }
    print(out,
          ", exit_signal={}, stack={}, stack_size={}",
          schema::flags_text("signal", args.exit_signal),
          pointer_text(args.stack),
          hex(args.stack_size));
    if ((args.flags & CLONE_SETTLS) != 0) {
        print(out, ", tls={}", pointer_text(args.tls));
    }
    if ((args.flags & CLONE_INTO_CGROUP) != 0 && bytes.size() >= CLONE_ARGS_SIZE_VER2) {
        print(out, ", cgroup={}", args.cgroup);
    }
    out.push_back('}');
    if (result > 0 && (args.flags & CLONE_PARENT_SETTID) != 0) {
        out.append(" => {parent_tid=[");
        limits.pids.append(out, result);
        out.append("]}");
    }
    return true;
}

bool append_utsname(std::string& out, std::string_view bytes, bool whole) {
    constexpr std::size_t kField = sizeof(utsname::sysname);
    static constexpr std::string_view kNames[] = {
        "sysname", "nodename", "release", "version", "machine", "domainname"};
    const std::size_t shown = whole ? std::size(kNames) : 2;
    if (bytes.size() <= kField * (shown - 1)) {
        return false;
    }
    out.push_back('{');
    for (std::size_t i = 0; i < shown; ++i) {
        out.append(i > 0 ? ", " : "");
        append_text_field(out, kNames[i], bytes.substr(i * kField, kField));
    }
    out.append(whole ? "}" : ", ...}");
    return true;
}

bool append_sysinfo(std::string& out, std::string_view bytes) {
    const auto info = read_at<struct sysinfo>(bytes);
    if (!info) {
        return false;
    }
    print(out,
          "{{uptime={}, loads=[{}, {}, {}], totalram={}, freeram={}, sharedram={}, bufferram={}, ",
          info->uptime,
          info->loads[0],
          info->loads[1],
          info->loads[2],
          info->totalram,
          info->freeram,
          info->sharedram,
          info->bufferram);
    print(out,
          "totalswap={}, freeswap={}, procs={}, totalhigh={}, freehigh={}, mem_unit={}}}",
          info->totalswap,
          info->freeswap,
          info->procs,
          info->totalhigh,
          info->freehigh,
          info->mem_unit);
    return true;
}

bool append_rusage(std::string& out, std::string_view bytes, bool whole) {
    constexpr std::size_t kTime = 16;
    static constexpr std::string_view kNames[] = {"maxrss",
                                                  "ixrss",
                                                  "idrss",
                                                  "isrss",
                                                  "minflt",
                                                  "majflt",
                                                  "nswap",
                                                  "inblock",
                                                  "oublock",
                                                  "msgsnd",
                                                  "msgrcv",
                                                  "nsignals",
                                                  "nvcsw",
                                                  "nivcsw"};
    if (bytes.size() < sizeof(rusage)) {
        return false;
    }
    out.append("{ru_utime=");
    append_timeval(out, bytes);
    out.append(", ru_stime=");
    append_timeval(out, bytes.substr(kTime));
    for (std::size_t i = 0; whole && i < std::size(kNames); ++i) {
        print(out, ", ru_{}={}", kNames[i], *read_at<std::int64_t>(bytes, 2 * kTime + i * 8));
    }
    out.append(whole ? "}" : ", ...}");
    return true;
}

bool append_itimerval(std::string& out, std::string_view bytes) {
    return append_timer(out, bytes, append_timeval);
}

bool append_itimerspec(std::string& out, std::string_view bytes) {
    return append_timer(out, bytes, append_timespec);
}

bool append_capability_header(std::string& out, std::string_view bytes, const Limits& limits) {
    const auto version = read_at<std::uint32_t>(bytes);
    const auto pid = read_at<std::int32_t>(bytes, sizeof(std::uint32_t));
    if (version && pid) {
        print(out, "{{version={}, pid=", schema::flags_text("capability_version", *version));
        limits.pids.append(out, *pid);
        out.push_back('}');
    }
    return version && pid;
}

bool append_capabilities(std::string& out, std::string_view bytes) {
    const auto halves = read_at<std::array<Capabilities, 2>>(bytes);
    if (!halves) {
        return false;
    }
    const auto [low, high] = *halves;
    const auto both = [](std::uint32_t lower, std::uint32_t upper) {
        return capabilities_text(std::uint64_t{upper} << 32 | lower);
    };
    print(out,
          "{{effective={}, permitted={}, inheritable={}}}",
          both(low.effective, high.effective),
          both(low.permitted, high.permitted),
          both(low.inheritable, high.inheritable));
    return true;
}

}  // namespace dyetrace::format
