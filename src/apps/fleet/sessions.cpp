// dyetrace sessions: what a collector's agents record, and how to stop it.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "apps/cli/output.h"
#include "apps/cli/verbs.h"
#include "apps/fleet/fleet_options.h"
#include "apps/fleet/host_progress.h"
#include "base/log.h"
#include "transport/operator.h"

namespace dyetrace::apps {
namespace {

struct SessionsArguments {
    FleetOptions fleet;
    std::string session;
};

std::string hosts_text(const fleet::SessionState& session) {
    std::string text;
    for (const auto& host : session.hosts()) {
        text += (text.empty() ? "" : ", ") + host.host() + " " + phase_text(host);
    }
    if (session.hosts_left_out() > 0) {
        text += fmt::format(
            "{}{} hosts", text.empty() ? "" : ", and of more: ", session.hosts_left_out());
    }
    return text;
}

Result<void> list(const SessionsArguments& arguments) {
    TRY(const fleet::SessionsReply reply,
        transport::list_sessions(with_port(arguments.fleet.collector), arguments.fleet.security()));
    for (const auto& session : reply.sessions()) {
        put(fmt::format("{}  {:9}  {}  {}\n",
                        session.session(),
                        session.state(),
                        session.trace(),
                        hosts_text(session)));
    }
    const std::string connected =
        reply.connected().empty() ? "none" : fmt::format("{}", fmt::join(reply.connected(), ", "));
    std::fputs(fmt::format("connected: {}\n", connected).c_str(), stderr);
    return {};
}

Result<void> stop(const SessionsArguments& arguments) {
    return transport::stop_session(
        with_port(arguments.fleet.collector), arguments.fleet.security(), arguments.session);
}

int run(const SessionsArguments& arguments) {
    transport::quieten_grpc(nullptr);
    return exit_status_of(arguments.session.empty() ? list(arguments) : stop(arguments));
}

}  // namespace

void add_sessions(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<SessionsArguments>();
    CLI::App* verb =
        app.add_subcommand("sessions", "List what the agents of a collector record, or stop it");
    add_fleet_options(*verb, arguments->fleet);
    verb->add_option("--stop", arguments->session, "End this session on all its hosts")
        ->type_name("SESSION");
    verb->footer(
        "Examples:\n"
        "  dyetrace sessions --collector traces.example.org\n"
        "  dyetrace sessions --collector 127.0.0.1 --insecure --stop 20261122T094512-3f9a");
    verb->callback([arguments, &exit_status] { exit_status = run(*arguments); });
}

}  // namespace dyetrace::apps
