// The part of the program that reads traces and therefore loads DuckDB; `dyetrace` becomes it for these verbs.

#include <malloc.h>

#include <CLI/CLI.hpp>

#include "apps/cli/help_formatter.h"
#include "apps/cli/verbs.h"
#include "base/fd.h"
#include "base/signals.h"

int main(int argc, char** argv) {
    dyetrace::base::hold_standard_descriptors();
    // DuckDB plans in many small objects: glibc's fastbins would be put together again and again, a seventh of a report's time
    ::mallopt(M_MXFAST, 0);
    dyetrace::base::outlive_file_size_limit();
    dyetrace::base::allow_all_descriptors();
    CLI::App app{"The verbs of dyetrace that read traces", "dyetrace"};
    dyetrace::apps::speak_plainly(app);
    app.require_subcommand(1);
    int exit_status = 0;
    dyetrace::apps::add_sql(app, exit_status);
    dyetrace::apps::add_follow(app, exit_status);
    dyetrace::apps::add_report(app, exit_status);
    dyetrace::apps::add_ui(app, exit_status);
    dyetrace::apps::add_pattern(app, exit_status);
    dyetrace::apps::add_verify_copies(app, exit_status);
    dyetrace::apps::add_similar(app, exit_status);
    dyetrace::apps::add_cat(app, exit_status);
    dyetrace::apps::add_export(app, exit_status);
    dyetrace::apps::add_live_answer(app, exit_status);
    dyetrace::apps::add_seal(app, exit_status);
    dyetrace::apps::add_top_of_trace(app, exit_status);
    return dyetrace::apps::run_command_line(app, argc, argv, exit_status);
}
