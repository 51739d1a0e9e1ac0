// The options of every verb that listens: a command after --, processes, or everything; and for how long.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "recorder/targets.h"

namespace CLI {
class App;  // its header takes a file five seconds to compile
}

namespace dyetrace::apps {

// The options as the user wrote them; lives as long as the command line is parsed and run.
struct TargetOptions {
    std::vector<std::string> command;
    std::vector<int> processes;
    bool all = false;
    std::string duration;

    Result<recorder::Targets> targets() const;
    // What trace.json says of them.
    std::vector<std::pair<std::string, std::string>> as_given() const;
};

void add_target_options(CLI::App& verb, TargetOptions& options);

// An empty text if it is the number of a process, else why not.
std::string refuse_pid(const std::string& text);

}  // namespace dyetrace::apps
