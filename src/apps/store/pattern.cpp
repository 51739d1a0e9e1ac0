// dyetrace pattern: how a file, or a set of files, was read and written, and in which order passes over it met what.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "apps/cli/output.h"
#include "apps/cli/verbs.h"
#include "apps/store/confine_reader.h"
#include "base/log.h"
#include "format/table.h"
#include "query/damages.h"
#include "reports/pattern/pattern_answer.h"
#include "reports/pattern/pattern_reader.h"
#include "schema/text.h"
#include "store/database.h"

namespace dyetrace::apps {
namespace {

struct PatternArguments {
    std::string trace, path, by;
    bool json = false;
};

reports::PatternBy by_of(const std::string& word) {
    return word == "process"  ? reports::PatternBy::kProcess
           : word == "thread" ? reports::PatternBy::kThread
                              : reports::PatternBy::kAll;
}

// Gives the path as the trace has it: from the root, with the escape of bytes that are not text.
std::string path_in_trace(const std::string& path) {
    const bool is_anywhere =
        path.starts_with('/') || path.starts_with('*') || path.starts_with('?');
    std::error_code error;
    const auto whole =
        is_anywhere ? std::filesystem::path(path) : std::filesystem::current_path(error) / path;
    return schema::escaped(whole.lexically_normal().string());
}

Result<reports::PatternAnswer> read_pattern(const PatternArguments& arguments,
                                            const base::Log& log) {
    TRY(const std::unique_ptr<store::Database> database,
        store::Database::open(arguments.trace, {}));
    query::say_damages(*database, log);
    if (const std::string losses = database->losses().text(); !losses.empty()) {
        log.warn(fmt::format("the trace has {}; the table `gaps` says where", losses));
    }
    return reports::read_pattern(*database, path_in_trace(arguments.path), by_of(arguments.by));
}

int run_pattern(const PatternArguments& arguments) {
    const base::Log log = base::Log::to_stderr();
    confine_reader(log, {arguments.trace});
    const Result<reports::PatternAnswer> answer = read_pattern(arguments, log);
    if (!answer.ok()) {
        log.fail(answer.error());
        return exit_status_of(answer.error());
    }
    const std::string out =
        arguments.json
            ? reports::pattern_json(answer.value())
            : reports::pattern_text(answer.value(), format::terminal_width(STDOUT_FILENO));
    put(out);
    return 0;
}

}  // namespace

void add_pattern(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<PatternArguments>();
    CLI::App* verb = app.add_subcommand(
        "pattern", "Say how files were read and written, and in which order passes met what");
    verb->add_option("trace", arguments->trace, "Folder of the trace; it may still be recorded")
        ->type_name("TRACE")
        ->required();
    verb->add_option(
            "--path", arguments->path, "A file, or a glob for a set of files; * matches / too")
        ->type_name("PATH")
        ->required();
    verb->add_option("--by", arguments->by, "Each process, or each thread, by itself")
        ->check(CLI::IsMember({"process", "thread"}))
        ->type_name("WHO");
    verb->add_flag("--json", arguments->json, "One JSON object, with the points of a picture");
    verb->footer(
        "Examples:\n"
        "  dyetrace pattern trace --path /data/train.rec\n"
        "  dyetrace pattern trace --path '/data/shard-*.rec' --by process\n"
        "  dyetrace pattern trace --path /var/lib/app.db --json");
    verb->callback([arguments, &exit_status] { exit_status = run_pattern(*arguments); });
}

}  // namespace dyetrace::apps
