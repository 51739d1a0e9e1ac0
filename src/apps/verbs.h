// The verbs of the program, a file each. add_<verb> describes the verb's options to the command line; when the user chose
// it, parsing runs it and sets `exit_status`.
#pragma once

#include <CLI/CLI.hpp>

namespace dyetrace::apps {

void add_record(CLI::App& app, int& exit_status);
void add_seal(CLI::App& app, int& exit_status);
void add_sql(CLI::App& app, int& exit_status);

}  // namespace dyetrace::apps
