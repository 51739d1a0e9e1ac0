#include "trace/trace_info.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "trace/segment_format.h"

namespace dyetrace::trace {
namespace {

constexpr std::string_view kPartsFeature = "parts";

constexpr std::string_view kStateNames[] = {"recording", "finished", "died"};

Result<std::uint64_t> get_up_to(const base::Json& json, const char* member, std::uint64_t max) {
    TRY(const std::uint64_t value, json.get<std::uint64_t>(member));
    if (value > max) {
        return Error(ErrorCode::kCorrupt, fmt::format("'{}' is above {}", member, max));
    }
    return value;
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
    TRY(const std::uint64_t index, get_up_to(json, "index", kHostsMax - 1));
    TRY(const std::uint64_t cpus, get_up_to(json, "cpus", kCpusMax));
    host.index = static_cast<std::uint16_t>(index);
    host.cpus = static_cast<std::uint32_t>(cpus);
    TRY(json.read("name", host.name, "boot_id", host.boot_id, "kernel", host.kernel));
    TRY(json.read("machine", host.machine, "wall_offset_ns", host.wall_offset_ns));
    if (json.find("network_namespace") != nullptr) {
        TRY(const std::uint64_t inode, get_up_to(json, "network_namespace", UINT32_MAX));
        host.network_namespace = static_cast<std::uint32_t>(inode);
    }
    if (json.find("node_by") != nullptr) {
        TRY(json.read("node_by", host.node_by));
    }
    return host;
}

Result<void> check_version(const base::Json& json) {
    TRY(const std::uint64_t version, get_up_to(json, "format_version", UINT32_MAX));
    if (version > kFormatVersion) {
        return Error(
            ErrorCode::kUnsupported,
            fmt::format(
                "the trace has format {} and this dyetrace reads up to {}: use a newer dyetrace",
                version,
                kFormatVersion));
    }
    return {};
}

Result<void> parse_features(const base::Json& json, TraceInfo& info) {
    for (const base::Json& feature : json.items_at("must_understand")) {
        if (feature.as<std::string>().value_or("") != kPartsFeature) {
            return Error(ErrorCode::kUnsupported,
                         fmt::format("the trace needs the feature {}, which this dyetrace does not "
                                     "know: use a newer dyetrace",
                                     feature.text()));
        }
        info.has_parts = true;
    }
    return {};
}

Result<void> parse_members(const base::Json& json, TraceInfo& info) {
    std::string state;
    TRY(json.read("state", state, "program", info.program));
    TRY(info.state, parse_state(state));
    if (const base::Json* const recorder = json.find("recorder")) {
        TRY(recorder->read("pid", info.recorder_pid, "start_ticks", info.recorder_start_ticks));
    }
    if (const base::Json* const options = json.find("options")) {
        for (const auto& [name, values] : options->members()) {
            for (const base::Json& value : values.items()) {
                info.options.emplace_back(name, value.as<std::string>().value_or(value.text()));
            }
        }
    }
    const std::vector<base::Json>& hosts = json.items_at("hosts");
    if (hosts.empty() != info.has_parts || hosts.size() > kHostsMax) {
        return Error(ErrorCode::kCorrupt, fmt::format("it has {} hosts", hosts.size()));
    }
    for (const base::Json& host : hosts) {
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
    TRY(std::string boot_id, base::read_file("/proc/sys/kernel/random/boot_id", 128));
    while (!boot_id.empty() && boot_id.back() == '\n') {
        boot_id.pop_back();
    }
    Host host;
    host.name = name.nodename;
    host.boot_id = std::move(boot_id);
    host.kernel = name.release;
    host.machine = name.machine;
    host.cpus = static_cast<std::uint32_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF)));
    const base::ClockSnapshot now = base::read_clock_snapshot();
    host.wall_offset_ns = now.wall_ns - now.boot_ns;
    struct stat network_namespace {};
    if (::stat("/proc/1/ns/net", &network_namespace) == 0) {
        host.network_namespace = static_cast<std::uint32_t>(network_namespace.st_ino);
    }
    return host;
}

std::string to_json(const TraceInfo& info) {
    base::Json options = base::Json::object();
    for (const auto& [name, value] : info.options) {
        base::Json values =
            options.find(name) == nullptr ? base::Json::array() : *options.find(name);
        options.set(name, values.append(value));
    }
    base::Json hosts = base::Json::array();
    for (const Host& host : info.hosts) {
        hosts.append(base::Json::object()
                         .set("index", host.index)
                         .set("name", host.name)
                         .set("boot_id", host.boot_id)
                         .set("kernel", host.kernel)
                         .set("machine", host.machine)
                         .set("cpus", host.cpus)
                         .set("wall_offset_ns", host.wall_offset_ns)
                         .set("network_namespace", host.network_namespace)
                         .set("node_by", host.node_by));
    }
    base::Json features = base::Json::array();
    if (info.has_parts) {
        features.append(kPartsFeature);
    }
    base::Json recorder = base::Json::object();
    recorder.set("pid", info.recorder_pid).set("start_ticks", info.recorder_start_ticks);
    return base::Json::object()
        .set("format_version", kFormatVersion)
        .set("must_understand", std::move(features))
        .set("state", kStateNames[static_cast<std::size_t>(info.state)])
        .set("program", info.program)
        .set("recorder", std::move(recorder))
        .set("options", std::move(options))
        .set("hosts", std::move(hosts))
        .pretty_text();
}

Result<TraceInfo> parse_trace_info(std::string_view text) {
    TRY(const base::Json json, base::Json::parse(text));
    TRY(check_version(json));
    TraceInfo info;
    TRY(parse_features(json, info));
    TRY(parse_members(json, info));
    return info;
}

}  // namespace dyetrace::trace
