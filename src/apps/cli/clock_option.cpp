#include "apps/cli/clock_option.h"

#include <CLI/CLI.hpp>

namespace dyetrace::apps {

void add_clock_option(CLI::App& verb, std::string& clock) {
    verb.add_option("--clock",
                    clock,
                    "Times of a trace of several hosts: cluster (one clock, made of their "
                    "messages), wall (of each host) or raw (CLOCK_BOOTTIME)")
        ->check(CLI::IsMember({"cluster", "wall", "raw"}))
        ->capture_default_str()
        ->type_name("CLOCK");
}

}  // namespace dyetrace::apps
