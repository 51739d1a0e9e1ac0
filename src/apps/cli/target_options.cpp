#include "apps/cli/target_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <string_view>

#include "base/amounts.h"

namespace dyetrace::apps {

Result<recorder::Targets> TargetOptions::targets() const {
    recorder::Targets targets{.command = command,
                              .processes = {processes.begin(), processes.end()},
                              .with_descendants = true,
                              .whole_system = all};
    if (command.empty() && processes.empty() && !all) {
        return Error(
            ErrorCode::kInvalidArgument,
            "say whom to watch: a command after --, processes with -p, or everything with -a");
    }
    if (all && !processes.empty()) {
        return Error(ErrorCode::kInvalidArgument,
                     "-a watches every process, -p some of them: take one");
    }
    if (!duration.empty()) {
        TRY(targets.duration, base::parse_duration(duration));
    }
    return targets;
}

std::vector<std::pair<std::string, std::string>> TargetOptions::as_given() const {
    std::vector<std::pair<std::string, std::string>> given;
    for (const std::string& word : command) {
        given.emplace_back("command", word);
    }
    for (const int process : processes) {
        given.emplace_back("pid", std::to_string(process));
    }
    if (all) {
        given.emplace_back("all", "true");
    }
    if (!duration.empty()) {
        given.emplace_back("duration", duration);
    }
    return given;
}

std::string refuse_pid(const std::string& text) {
    pid_t process = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, process);
    const bool is_pid = error == std::errc() && rest == end && process > 0;
    return is_pid ? "" : fmt::format("'{}' is no process: its number is 1 or more", text);
}

void add_target_options(CLI::App& verb, TargetOptions& options) {
    verb.add_option("-p,--pid",
                    options.processes,
                    "Watch these processes, all their threads, and their children: those that run "
                    "and those "
                    "to come")
        ->delimiter(',')
        ->allow_extra_args(false)  // what comes next is the verb's own, such as a statement
        ->check(&refuse_pid)
        ->type_name("PID[,PID]");
    verb.add_flag("-a,--all", options.all, "Watch every process of the system");
    verb.add_option("--duration,--for", options.duration, "Stop after this time: 500ms, 90s, 5m")
        ->type_name("TIME");
    verb.add_option("command", options.command, "Command to run and watch, after --")
        ->type_name("CMD");
}

}  // namespace dyetrace::apps
