#include "apps/fleet/fleet_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>

namespace dyetrace::apps {

void add_security_options(CLI::App& verb, FleetOptions& options) {
    verb.add_option("--certificates",
                    options.certificates,
                    "Folder with ca.pem, certificate.pem and key.pem, as `dyetrace pki` makes them")
        ->envname("DYETRACE_CERTIFICATES")
        ->capture_default_str()
        ->type_name("FOLDER");
    verb.add_flag("--insecure",
                  options.insecure,
                  "Without encryption and without certificates; on a loopback address only");
}

void add_fleet_options(CLI::App& verb, FleetOptions& options) {
    verb.add_option("--collector",
                    options.collector,
                    "Where the collector listens; the port may be left out")
        ->envname("DYETRACE_COLLECTOR")
        ->required()
        ->type_name("ADDRESS");
    add_security_options(verb, options);
}

std::string with_port(const std::string& address) {
    const std::size_t colon = address.rfind(':');
    const bool has_port =
        colon != std::string::npos &&
        (address.front() == '[' ? address[colon - 1] == ']' : address.find(':') == colon);
    if (has_port) {
        return address;
    }
    return (address.find(':') != std::string::npos && address.front() != '[' ? "[" + address + "]"
                                                                             : address) +
           ":" + kDefaultPort;
}

Result<std::string> own_program() {
    std::error_code error;
    const std::filesystem::path folder =
        std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
    for (const auto& candidate : {folder / "dyetrace", folder / "../../bin/dyetrace"}) {
        if (::access(candidate.c_str(), X_OK) == 0) {
            return candidate.string();
        }
    }
    return Error(ErrorCode::kNotFound,
                 fmt::format("the program dyetrace is neither in {} nor in ../../bin beside it",
                             folder.string()));
}

int exit_status_of(const Result<void>& done) {
    if (done.ok()) {
        return 0;
    }
    base::Log::to_stderr().fail(done.error());
    return exit_status_of(done.error());
}

}  // namespace dyetrace::apps
