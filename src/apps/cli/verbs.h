// The verbs of the program, a file each. add_<verb> describes the verb's options to the command line; when the user chose
// it, parsing runs it and sets `exit_status`.
//
// The program is three files, so that neither DuckDB nor gRPC is ever loaded into a recorder: `dyetrace` has the verbs that
// listen, becomes `dyetrace-store` for those that read a trace, and `dyetrace-fleet` for those that speak to other hosts.
#pragma once

#include <string>
#include <vector>

#include "apps/cli/exit_status.h"

namespace CLI {
class App;  // its header takes a file five seconds to compile
}

namespace dyetrace::apps {

// dyetrace
void add_doctor(CLI::App& app, int& exit_status);
void add_dye(CLI::App& app, int& exit_status);
void add_hash(CLI::App& app, int& exit_status);
void add_import(CLI::App& app, int& exit_status);
void add_live(CLI::App& app, int& exit_status);
void add_probes(CLI::App& app, int& exit_status);
void add_record(CLI::App& app, int& exit_status);
void add_stat(CLI::App& app, int& exit_status);
void add_top(CLI::App& app, int& exit_status);
// Only --help uses this. strace's options are not CLI11's (-tt, -yy, a command without --): main gives all words to run_trace.
void add_trace(CLI::App& app);
int run_trace(const std::vector<std::string>& words);

// dyetrace-fleet
void add_agent(CLI::App& app, int& exit_status);
void add_collector(CLI::App& app, int& exit_status);
void add_pki(CLI::App& app, int& exit_status);
void add_sessions(CLI::App& app, int& exit_status);
// `record --on …`: `command` is what stands after --.
void add_record_on(CLI::App& app, const std::vector<std::string>& command, int& exit_status);

// dyetrace-store
void add_follow(CLI::App& app, int& exit_status);
void add_cat(CLI::App& app, int& exit_status);
void add_export(CLI::App& app, int& exit_status);
void add_live_answer(CLI::App& app, int& exit_status);
void add_pattern(CLI::App& app, int& exit_status);
void add_report(CLI::App& app, int& exit_status);
void add_seal(CLI::App& app, int& exit_status);
void add_similar(CLI::App& app, int& exit_status);
void add_sql(CLI::App& app, int& exit_status);
void add_top_of_trace(CLI::App& app, int& exit_status);
void add_ui(CLI::App& app, int& exit_status);
void add_verify_copies(CLI::App& app, int& exit_status);

}  // namespace dyetrace::apps
