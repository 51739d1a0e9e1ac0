// What every verb that speaks to a collector is told: where it is, and who we are.
#pragma once

#include <string>

#include "base/result.h"
#include "transport/security.h"

namespace CLI {
class App;  // its header takes a file five seconds to compile
}

namespace dyetrace::apps {

// Where certificates are looked for if nobody says where.
inline constexpr const char* kCertificates = "/etc/dyetrace";
inline constexpr const char* kDefaultPort = "4147";

struct FleetOptions {
    std::string collector;
    std::string certificates = kCertificates;
    bool insecure = false;

    transport::Security security() const { return {certificates, insecure}; }
};

void add_security_options(CLI::App& verb, FleetOptions& options);
// Adds the security options, --collector, and $DYETRACE_COLLECTOR.
void add_fleet_options(CLI::App& verb, FleetOptions& options);

// "db1" is db1:4147.
std::string with_port(const std::string& address);

// `dyetrace` itself, which belongs to this file: beside it in a build tree, in bin where it is installed.
Result<std::string> own_program();

// Says on stderr why not, if it is not done.
int exit_status_of(const Result<void>& done);

}  // namespace dyetrace::apps
