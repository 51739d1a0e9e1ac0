// dyetrace agent: one per host; records what a collector asks for, and ships it there.

#include "transport/agent.h"

#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "apps/cli/target_options.h"
#include "apps/cli/verbs.h"
#include "apps/fleet/fleet_options.h"
#include "base/amounts.h"
#include "base/signals.h"

namespace dyetrace::apps {
namespace {

struct AgentArguments {
    FleetOptions fleet;
    std::string host;
    std::string spool = "/var/lib/dyetrace/spool";
    std::vector<std::string> always;
    std::string spool_max = "4G";
    std::string bandwidth_max = "0";
    std::string memory_max = "0";
    std::uint32_t cpu_max = 0;
};

std::string own_name() {
    char name[256] = {};
    return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

Result<transport::AgentOptions> make_options(const AgentArguments& arguments) {
    transport::AgentOptions options;
    options.collector = with_port(arguments.fleet.collector);
    options.host = arguments.host.empty() ? own_name() : arguments.host;
    options.spool = arguments.spool;
    options.always = arguments.always;
    options.security = arguments.fleet.security();
    TRY(options.program, own_program());
    TRY(options.spool_bytes_max, base::parse_bytes(arguments.spool_max));
    TRY(options.limits.bandwidth_bytes_max, base::parse_bytes(arguments.bandwidth_max));
    TRY(options.limits.memory_bytes_max, base::parse_bytes(arguments.memory_max));
    options.limits.cpu_percent_max = arguments.cpu_max;
    if (options.spool_bytes_max < transport::kSpoolBytesMin) {
        return Error(ErrorCode::kInvalidArgument,
                     "--spool-max is at least 1M: a few segments have to fit");
    }
    return options;
}

Result<void> serve(const AgentArguments& arguments, const base::Log& log) {
    ::umask(0077);  // traces are their owner's alone
    TRY(transport::AgentOptions options, make_options(arguments));
    const base::Fd signals = base::take_ending_signals();
    transport::quieten_grpc(nullptr);
    TRY(const auto agent, transport::Agent::start(std::move(options), log));
    while (!base::was_asked_to_end(signals)) {
        agent->tick();
    }
    return {};
}

void add_limits(CLI::App& verb, AgentArguments& arguments) {
    verb.add_option("--spool-max",
                    arguments.spool_max,
                    "How large that may get; then the oldest events are dropped, as a gap")
        ->capture_default_str()
        ->type_name("SIZE");
    verb.add_option("--bandwidth-max",
                    arguments.bandwidth_max,
                    "Bytes a second to the collector; what waits, waits in the spool")
        ->type_name("SIZE");
    verb.add_option("--cpu-max", arguments.cpu_max, "Per cent of one CPU for shipping, likewise")
        ->check(CLI::Range(1, 100))
        ->type_name("PERCENT");
    verb.add_option("--memory-max",
                    arguments.memory_max,
                    "Of the agent and its recorders; above it the youngest session ends")
        ->type_name("SIZE");
}

}  // namespace

void add_agent(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<AgentArguments>();
    CLI::App* verb = app.add_subcommand(
        "agent", "Record on this host what a collector asks for, and ship it there");
    add_fleet_options(*verb, arguments->fleet);
    verb->add_option("--host",
                     arguments->host,
                     "As which host it writes (default: what this machine is called)")
        ->type_name("NAME");
    verb->add_option("--spool", arguments->spool, "Folder for what is not shipped yet")
        ->capture_default_str()
        ->type_name("FOLDER");
    verb->add_option(
            "--always",
            arguments->always,
            "A word that each recording of this host is given, as --ring=64M; may be repeated")
        ->type_name("WORD");
    add_limits(*verb, *arguments);
    verb->footer(
        "Examples:\n"
        "  dyetrace agent --collector traces.example.org\n"
        "  dyetrace agent --collector traces.example.org --always=--ring=64M\n"
        "  dyetrace agent --collector 127.0.0.1 --insecure --spool /tmp/spool");
    verb->callback([arguments, &exit_status] {
        exit_status = exit_status_of(serve(*arguments, base::Log::to_stderr()));
    });
}

}  // namespace dyetrace::apps
