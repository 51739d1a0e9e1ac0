// The part of the program that speaks to other hosts and therefore loads gRPC; `dyetrace` becomes it for these verbs.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>

#include "apps/cli/help_formatter.h"
#include "apps/cli/verbs.h"
#include "base/fd.h"
#include "base/signals.h"

int main(int argc, char** argv) {
    dyetrace::base::hold_standard_descriptors();
    dyetrace::base::outlive_file_size_limit();
    CLI::App app{"The verbs of dyetrace that speak to other hosts", "dyetrace"};
    dyetrace::apps::speak_plainly(app);
    app.require_subcommand(1);
    // a command's words are not ours
    char** const end = std::find_if(
        argv, argv + argc, [](const char* word) { return std::strcmp(word, "--") == 0; });
    const std::vector<std::string> command(end == argv + argc ? end : end + 1, argv + argc);
    int exit_status = 0;
    dyetrace::apps::add_agent(app, exit_status);
    dyetrace::apps::add_collector(app, exit_status);
    dyetrace::apps::add_sessions(app, exit_status);
    dyetrace::apps::add_pki(app, exit_status);
    dyetrace::apps::add_record_on(app, command, exit_status);
    return dyetrace::apps::run_command_line(app, static_cast<int>(end - argv), argv, exit_status);
}
