// The front door: one program, a verb per file.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>

#include "apps/cli/help_formatter.h"
#include "apps/cli/output.h"
#include "apps/cli/verbs.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/signals.h"
#include "query/sql.h"

namespace {

// What dyetrace-store does, for --help; see store_main.cpp.
constexpr std::pair<const char*, const char*> kStoreVerbs[] = {
    {"report", "Say on one screen what happened in a trace"},
    {"sql", "Ask a trace in SQL, once or at a prompt"},
    {"ui", "Show a trace in the browser"},
    {"follow", "Show where bytes went, or where they came from"},
    {"pattern", "Say how files were read and written, and in which order passes met what"},
    {"verify-copies", "Say whether copies of bytes are the same, and who held them when not"},
    {"similar", "List what resembles a file, an event or another trace, by content"},
    {"cat", "Give back a file or a stream as it was seen to move"},
    {"export", "Write a trace in the format of another tool: Perfetto, OTLP, CSV, Parquet, pcapng"},
    {"seal", "Turn the segments of a trace into Parquet"},
};

// The same of dyetrace-fleet; see fleet_main.cpp.
constexpr std::pair<const char*, const char*> kFleetVerbs[] = {
    {"agent", "Record on this host what a collector asks for, and ship it there"},
    {"collector", "Bring the traces of many hosts together"},
    {"sessions", "List what the agents of a collector record, or stop it"},
    {"pki", "Make the certificates of agents, collectors and operators"},
};

template <std::size_t count>
bool is_one_of(const std::pair<const char*, const char*> (&verbs)[count], const char* word) {
    return std::any_of(std::begin(verbs), std::end(verbs), [&](const auto& verb) {
        return std::strcmp(verb.first, word) == 0;
    });
}

// `record --on HOSTS …`: what stands after -- is a command's.
bool is_record_on(int argc, char** argv) {
    if (std::strcmp(argv[1], "record") != 0) {
        return false;
    }
    char** const end = std::find_if(
        argv + 2, argv + argc, [](const char* word) { return std::strcmp(word, "--") == 0; });
    return std::any_of(argv + 2, end, [](const char* word) {
        return std::strcmp(word, "--on") == 0 || std::strncmp(word, "--on=", 5) == 0;
    });
}

// `top TRACE`: in front of --.
bool is_top_of_trace(int argc, char** argv) {
    if (std::strcmp(argv[1], "top") != 0) {
        return false;
    }
    char** const end = std::find_if(
        argv + 2, argv + argc, [](const char* word) { return std::strcmp(word, "--") == 0; });
    return std::any_of(argv + 2, end, [](const char* word) {
        std::error_code error;
        return std::filesystem::exists(std::filesystem::path(word) / "trace.json", error);
    });
}

// Beside this program in a build tree, in lib/dyetrace where it is installed.
int become(const std::string& part, const char* what_it_does, char** argv) {
    std::error_code error;
    const std::filesystem::path folder =
        std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
    for (const auto& candidate : {folder / part, folder / "../lib/dyetrace" / part}) {
        execv(candidate.c_str(), argv);
    }
    const bool is_built_here = std::filesystem::exists(folder / "build.ninja", error);
    dyetrace::base::Log::to_stderr().fail(fmt::format(
        "the part that {}, {}, is neither in {} nor in ../lib/dyetrace beside it{}",
        what_it_does,
        part,
        folder.string(),
        is_built_here ? fmt::format(": `tools/install_packages build && cmake -DDYETRACE_FLEET=ON "
                                    "{0} && cmake --build {0} --target {1}` makes it",
                                    folder.string(),
                                    part)
                      : ""));
    return 1;
}

// What people type who do not know this program yet: `help`, `help VERB` and `version` are --help and --version. They are verbs for what stands there else: a mistyped one, or an option of it.
constexpr std::pair<const char*, const char*> kVerbsAsOptions[] = {
    {"help", "Show the verbs, or with a verb its options"},
    {"version", "Show the version; it has no options"},
};

void as_options(int argc, char** argv) {
    static char help[] = "--help", version[] = "--version";
    if (argc == 2 && std::strcmp(argv[1], "version") == 0) {
        argv[1] = version;
    } else if (argc >= 2 && std::strcmp(argv[1], "help") == 0) {
        argv[1] = argc > 2 ? argv[2] : help;
        argv[2] = argc > 2 ? help : nullptr;
    }
}

}  // namespace

int main(int argc, char** argv) {
    dyetrace::base::hold_standard_descriptors();
    dyetrace::base::outlive_file_size_limit();
    as_options(argc, argv);
    if (argc > 1 && (is_one_of(kStoreVerbs, argv[1]) || is_top_of_trace(argc, argv) ||
                     std::strcmp(argv[1], "live-answer") == 0)) {
        return become("dyetrace-store", "reads traces", argv);
    }
    if (argc > 1 && (is_one_of(kFleetVerbs, argv[1]) || is_record_on(argc, argv))) {
        return become("dyetrace-fleet", "speaks to other hosts", argv);
    }
    if (argc > 1 && std::strcmp(argv[1], "trace") == 0) {
        return dyetrace::apps::run_trace({argv + 2, argv + argc});
    }
    CLI::App app{"Records the I/O of programs from the kernel and explains it", "dyetrace"};
    dyetrace::apps::speak_plainly(app);
    app.require_subcommand(0, 1);
    int exit_status = 0;
    dyetrace::apps::add_record(app, exit_status);
    dyetrace::apps::add_trace(app);
    dyetrace::apps::add_live(app, exit_status);
    dyetrace::apps::add_probes(app, exit_status);
    dyetrace::apps::add_stat(app, exit_status);
    dyetrace::apps::add_top(app, exit_status);
    for (const auto& [name, description] : kStoreVerbs) {
        app.add_subcommand(name, description);
    }
    for (const auto& [name, description] : kFleetVerbs) {
        app.add_subcommand(name, description);
    }
    dyetrace::apps::add_import(app, exit_status);
    dyetrace::apps::add_doctor(app, exit_status);
    dyetrace::apps::add_dye(app, exit_status);
    dyetrace::apps::add_hash(app, exit_status);
    for (const auto& [name, description] : kVerbsAsOptions) {
        app.add_subcommand(name, description)->group("");
    }
    app.footer(
        fmt::format("Examples:\n"
                    "  dyetrace record -o trace -- git status\n"
                    "  dyetrace report trace\n"
                    "  dyetrace sql trace \"{}\"\n\n"
                    "`dyetrace VERB --help` and `man dyetrace-VERB` say more.",
                    dyetrace::query::sql::kExamplesCalls));
    if (argc <= 1) {
        dyetrace::apps::put(app.help());
        return dyetrace::apps::finish_output(0);
    }
    return dyetrace::apps::run_command_line(app, argc, argv, exit_status);
}
