// Whom a recorder watches, and for how long.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace dyetrace::recorder {

struct Targets {
    std::vector<std::string> command;
    std::vector<pid_t> processes;
    bool with_descendants = false;  // of `processes`, those that run already; later ones always are
    bool whole_system = false;
    std::optional<std::chrono::nanoseconds> duration = {};
    bool and_children = false;  // it ends when their children have ended too
};

}  // namespace dyetrace::recorder
