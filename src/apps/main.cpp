// The front door: one program, a verb per file.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "base/version.h"

int main(int argc, char** argv) {
    CLI::App app{"Records the I/O of every process on every node and explains it", "dyetrace"};
    app.set_version_flag("--version", "dyetrace " + std::string(dyetrace::base::kVersion));
    CLI11_PARSE(app, argc, argv);
    std::fputs(app.help().c_str(), stdout);
    return 0;
}
