#include "trace/trace_info.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "base/json.h"
#include "trace/file.h"
#include "trace/segment_format.h"

namespace dyetrace::trace {
namespace {

constexpr std::string_view kStateNames[] = {"recording", "finished", "died"};

std::int64_t nanoseconds(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

Result<TraceState> parse_state(const std::string& name) {
    for (std::size_t i = 0; i < std::size(kStateNames); ++i) {
        if (kStateNames[i] == name) {
            return static_cast<TraceState>(i);
        }
    }
    return Error(ErrorCode::kUnsupported, fmt::format("unknown state '{}'", name));
}

Result<Host> parse_host(const base::Json& json) {
    Host host;
    TRY(const std::uint64_t index, base::get_unsigned(json, "index", kHostsMax - 1));
    TRY(const std::uint64_t cpus, base::get_unsigned(json, "cpus", kCpusMax));
    host.index = static_cast<std::uint16_t>(index);
    host.cpus = static_cast<std::uint32_t>(cpus);
    TRY(host.name, base::get_string(json, "name"));
    TRY(host.boot_id, base::get_string(json, "boot_id"));
    TRY(host.kernel, base::get_string(json, "kernel"));
    TRY(host.machine, base::get_string(json, "machine"));
    TRY(host.wall_offset_ns, base::get_integer(json, "wall_offset_ns"));
    return host;
}

Result<void> check_version(const base::Json& json) {
    TRY(const std::uint64_t version, base::get_unsigned(json, "format_version", UINT32_MAX));
    if (version > kFormatVersion) {
        return Error(ErrorCode::kUnsupported,
                     fmt::format("the trace has format {} and this dyetrace reads up to {}: use a newer dyetrace",
                                 version,
                                 kFormatVersion));
    }
    TRY(const base::Json* features, base::get_array(json, "must_understand"));
    if (!features->empty()) {
        return Error(ErrorCode::kUnsupported,
                     fmt::format("the trace needs the feature {}, which this dyetrace does not know: use a newer dyetrace",
                                 base::to_text(features->front())));
    }
    return {};
}

Result<void> parse_members(const base::Json& json, TraceInfo& info) {
    TRY(const std::string state, base::get_string(json, "state"));
    TRY(info.state, parse_state(state));
    TRY(info.program, base::get_string(json, "program"));
    TRY(const base::Json* recorder, base::get_object(json, "recorder"));
    TRY(info.recorder_pid, base::get_integer(*recorder, "pid"));
    TRY(info.recorder_start_ticks, base::get_unsigned(*recorder, "start_ticks", UINT64_MAX));
    TRY(const base::Json* options, base::get_object(json, "options"));
    for (const auto& [name, value] : options->items()) {
        info.options.emplace_back(name, value.is_string() ? value.get<std::string>() : base::to_text(value));
    }
    TRY(const base::Json* hosts, base::get_array(json, "hosts"));
    if (hosts->empty() || hosts->size() > kHostsMax) {
        return Error(ErrorCode::kCorrupt, fmt::format("{} hosts", hosts->size()));
    }
    for (const base::Json& host : *hosts) {
        TRY(Host parsed, parse_host(host));
        info.hosts.push_back(std::move(parsed));
    }
    return {};
}

}  // namespace

Result<Host> this_host() {
    utsname name{};
    if (::uname(&name) != 0) {
        return Error::from_errno(errno, "cannot read the host's name");
    }
    TRY(std::string boot_id, read_whole_file_of_unknown_size("/proc/sys/kernel/random/boot_id", 128));
    while (!boot_id.empty() && boot_id.back() == '\n') {
        boot_id.pop_back();
    }
    Host host;
    host.name = name.nodename;
    host.boot_id = std::move(boot_id);
    host.kernel = name.release;
    host.machine = name.machine;
    host.cpus = static_cast<std::uint32_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF)));
    host.wall_offset_ns = nanoseconds(CLOCK_REALTIME) - nanoseconds(CLOCK_BOOTTIME);
    return host;
}

std::string to_json(const TraceInfo& info) {
    base::Json json;
    json["format_version"] = kFormatVersion;
    json["must_understand"] = base::Json::array();
    json["state"] = kStateNames[static_cast<std::size_t>(info.state)];
    json["program"] = info.program;
    json["recorder"] = {{"pid", info.recorder_pid}, {"start_ticks", info.recorder_start_ticks}};
    json["options"] = base::Json::object();
    for (const auto& [name, value] : info.options) {
        json["options"][name] = value;
    }
    json["hosts"] = base::Json::array();
    for (const Host& host : info.hosts) {
        json["hosts"].push_back({{"index", host.index},
                                 {"name", host.name},
                                 {"boot_id", host.boot_id},
                                 {"kernel", host.kernel},
                                 {"machine", host.machine},
                                 {"cpus", host.cpus},
                                 {"wall_offset_ns", host.wall_offset_ns}});
    }
    return base::to_indented_text(json) + "\n";
}

Result<TraceInfo> parse_trace_info(std::string_view text) {
    TRY(const base::Json json, base::parse_json(text));
    TRY(check_version(json));
    TraceInfo info;
    TRY(parse_members(json, info));
    return info;
}

}  // namespace dyetrace::trace
