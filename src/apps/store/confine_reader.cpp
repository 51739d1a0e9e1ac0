#include "apps/store/confine_reader.h"

#include <linux/capability.h>
#include <netinet/in.h>

#include <cstdlib>

#include "base/file.h"
#include "trace/trace_folder.h"

namespace dyetrace::apps {
namespace {

std::string temporary_parent() {
    const char* const parent = std::getenv("TMPDIR");
    return parent != nullptr ? parent : "/tmp";
}

base::Confinement confinement_of(const std::vector<std::string>& traces,
                                 const std::vector<std::string>& outputs) {
    base::FileAccess files{.writable = {temporary_parent()}};
    for (const std::string& trace : traces) {
        if (!trace.empty()) {
            files.writable.push_back(trace);
        }
    }
    for (const std::string& output : outputs) {
        if (!output.empty()) {
            files.writable.push_back(base::parent_folder(output));
            files.writable.push_back(output);  // a device, or a pipe, somewhere else
        }
    }
    base::Confinement confinement{};
    for (const std::string& path : files.writable) {
        if (path != temporary_parent() && base::needs_capability_for(path)) {
            confinement.kept_capabilities = {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH};
        }
    }
    confinement.files = std::move(files);
    return confinement;
}

void confine_or_say(const base::Log& log, const base::Confinement& confinement) {
    if (const Result<void> confined = base::confine(confinement); !confined.ok()) {
        log.warn("more rights than needed are kept: " + confined.error().text());
    }
}

}  // namespace

void confine_reader(const base::Log& log,
                    const std::vector<std::string>& traces,
                    const std::vector<std::string>& outputs) {
    if (!traces.empty()) {
        trace::keep_files_private(traces.front());
    }
    confine_or_say(log, confinement_of(traces, outputs));
}

void confine_page(const base::Log& log,
                  const std::vector<std::string>& traces,
                  std::uint16_t port) {
    trace::keep_files_private(traces.front());
    base::Confinement confinement = confinement_of(traces, {});
    if (port != 0 && port < IPPORT_RESERVED) {
        confinement.kept_capabilities.push_back(CAP_NET_BIND_SERVICE);
    }
    // Libraries, the time zone, and what DuckDB asks about memory and CPUs.
    confinement.files->readable = {"/usr",
                                   "/lib",
                                   "/lib64",
                                   "/etc/localtime",
                                   "/etc/ld.so.cache",
                                   "/proc",
                                   "/sys/fs/cgroup",
                                   "/sys/devices/system/cpu",
                                   "/dev/urandom"};
    confinement.may_use_network = true;
    confine_or_say(log, confinement);
}

}  // namespace dyetrace::apps
