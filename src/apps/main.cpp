// The front door: one program, a verb per file.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "apps/verbs.h"
#include "base/version.h"

int main(int argc, char** argv) {
    CLI::App app{"Records the I/O of every process on every node and explains it", "dyetrace"};
    app.set_version_flag("--version", "dyetrace " + std::string(dyetrace::base::kVersion));
    app.require_subcommand(0, 1);
    int exit_status = 0;
    dyetrace::apps::add_record(app, exit_status);
    dyetrace::apps::add_sql(app, exit_status);
    dyetrace::apps::add_seal(app, exit_status);
    CLI11_PARSE(app, argc, argv);
    if (app.get_subcommands().empty()) {
        std::fputs(app.help().c_str(), stdout);
    }
    return exit_status;
}
