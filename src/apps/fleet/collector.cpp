// dyetrace collector: where the traces of many hosts come together.

#include "transport/collector.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <thread>

#include "apps/cli/verbs.h"
#include "apps/fleet/fleet_options.h"
#include "base/fd.h"
#include "base/signals.h"
#include "transport/limits.h"

namespace dyetrace::apps {
namespace {

struct CollectorArguments {
    FleetOptions fleet;
    std::string listen = "127.0.0.1";
    std::string store = "/var/lib/dyetrace/traces";
};

Result<void> serve(const CollectorArguments& arguments, const base::Log& log) {
    ::umask(0077);                  // traces are their owner's alone
    base::allow_all_descriptors();  // a few per host
    transport::CollectorOptions options;
    options.listen = with_port(arguments.listen);
    options.store = arguments.store;
    options.security = arguments.fleet.security();
    TRY(options.program, own_program());
    const base::Fd signals = base::take_ending_signals();
    transport::quieten_grpc(&log);
    const std::string host = options.listen.substr(0, options.listen.rfind(':'));
    TRY(const auto collector, transport::Collector::start(std::move(options), log));
    log.say(fmt::format("listening on {}:{}", host, collector->port()));
    while (!base::was_asked_to_end(signals)) {
        TRY(collector->tick());
        std::this_thread::sleep_for(std::chrono::milliseconds(transport::kAcknowledgeMs));
    }
    return {};
}

}  // namespace

void add_collector(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<CollectorArguments>();
    CLI::App* verb = app.add_subcommand("collector", "Bring the traces of many hosts together");
    verb->add_option(
            "--listen",
            arguments->listen,
            "Address to listen on, with or without a port; 0.0.0.0 is all of IPv4, [::] also IPv6")
        ->capture_default_str()
        ->type_name("ADDRESS");
    verb->add_option("--store", arguments->store, "Folder for the traces, a folder each")
        ->capture_default_str()
        ->type_name("FOLDER");
    add_security_options(*verb, arguments->fleet);
    verb->footer(
        "Examples:\n"
        "  dyetrace collector --listen 0.0.0.0\n"
        "  dyetrace collector --listen 127.0.0.1:4147 --insecure --store traces");
    verb->callback([arguments, &exit_status] {
        exit_status = exit_status_of(serve(*arguments, base::Log::to_stderr()));
    });
}

}  // namespace dyetrace::apps
