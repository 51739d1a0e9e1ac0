// dyetrace probes: what can be watched besides system calls, with the values that each has.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "apps/cli/output.h"
#include "apps/cli/verbs.h"
#include "base/harmless.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "capture/probe_list.h"
#include "format/table.h"

namespace dyetrace::apps {
namespace {

using capture::ListedProbe;
using capture::ListedValue;

struct ProbesArguments {
    std::string glob = "*", program;
    bool json = false;
};

void print_json(const ListedProbe& probe) {
    base::Json values = base::Json::array();
    for (const ListedValue& value : probe.values) {
        values.append(base::Json::object()
                          .set("name", value.name)
                          .set("type", value.type)
                          .set("refused", value.lack));
    }
    put(fmt::format("{}\n",
                    base::Json::object()
                        .set("probe", probe.name)
                        .set("values", std::move(values))
                        .set("refused", probe.lack)
                        .text()));
}

// "arguments.count size_t", in lines of the terminal's width.
void print_text(const ListedProbe& probe, std::size_t width) {
    put(fmt::format("{}{}\n",
                    base::make_harmless(probe.name),
                    probe.lack.empty() ? "" : ": " + base::make_harmless(probe.lack)));
    std::string text;
    for (const ListedValue& value : probe.values) {
        text += fmt::format("{}{}{}{}",
                            text.empty() ? "" : ", ",
                            value.name,
                            value.type.empty() ? "" : " " + value.type,
                            value.lack.empty() ? "" : " (" + value.lack + ")");
    }
    if (!text.empty()) {
        put(fmt::format("    {}\n", base::wrapped(base::make_harmless(text), width - 4, "    ")));
    }
}

int run_probes(const ProbesArguments& arguments) {
    const base::Log log = base::Log::to_stderr();
    const auto list = capture::list_probes(arguments.glob, arguments.program);
    if (!list.ok()) {
        log.fail(list.error());
        return exit_status_of(list.error());
    }
    const std::size_t width = std::max<std::size_t>(format::terminal_width(STDOUT_FILENO), 40);
    for (const ListedProbe& probe : list.value().probes) {
        if (arguments.json) {
            print_json(probe);
        } else {
            print_text(probe, width);
        }
    }
    for (const std::string& refused : list.value().refused) {
        log.say(refused);
    }
    if (list.value().left_out > 0) {
        log.say(fmt::format("{} more are not listed: say a longer part of the name",
                            base::with_separators(list.value().left_out)));
    }
    if (list.value().probes.empty()) {
        log.say(fmt::format("no probe is called '{}'", arguments.glob));
        return kExitFailure;
    }
    return 0;
}

}  // namespace

void add_probes(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<ProbesArguments>();
    CLI::App* verb = app.add_subcommand(
        "probes", "List what can be watched besides system calls, and what is known of it");
    verb->add_option("glob", arguments->glob, "Names: with *, ? and [a-z]; all if there is none")
        ->type_name("GLOB");
    verb->add_option("--program",
                     arguments->program,
                     "Functions and marks of this program or library, not of the kernel")
        ->type_name("FILE");
    verb->add_flag("--json", arguments->json, "One JSON object per probe");
    verb->footer(
        "Examples:\n"
        "  dyetrace probes 'vfs_*'\n"
        "  dyetrace probes --program postgres 'query*'");
    verb->callback([arguments, &exit_status] { exit_status = run_probes(*arguments); });
}

}  // namespace dyetrace::apps
