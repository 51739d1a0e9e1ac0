// dyetrace similar: what resembles a file, an event or another trace, by content.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/output.h"
#include "apps/cli/verbs.h"
#include "apps/store/confine_reader.h"
#include "base/log.h"
#include "format/table.h"
#include "query/damages.h"
#include "reports/similar/similar_reader.h"
#include "schema/text.h"
#include "store/database.h"

namespace dyetrace::apps {
namespace {

struct SimilarArguments {
    std::string trace, trace2, path;
    std::optional<std::uint64_t> event, object;
    double min = reports::SimilarQuestion::kMinDefault;
    bool json = false;
};

// The kernel names a file from the root, whatever folder was the current one.
reports::SimilarQuestion question_of(const SimilarArguments& arguments) {
    reports::SimilarQuestion question;
    question.min = arguments.min;
    if (!arguments.path.empty()) {
        question.path =
            schema::escaped(std::filesystem::absolute(arguments.path).lexically_normal().string());
    }
    question.event = arguments.event;
    question.object = arguments.object;
    return question;
}

Result<reports::SimilarAnswer> read(const SimilarArguments& arguments, const base::Log& log) {
    std::vector<std::unique_ptr<store::Database>> databases;
    for (const std::string& trace : {arguments.trace, arguments.trace2}) {
        if (trace.empty()) {
            continue;
        }
        TRY(auto database, store::Database::open(trace, {}));
        query::say_damages(*database, log);
        if (const std::string losses = database->losses().text(); !losses.empty()) {
            log.warn(fmt::format("'{}' has {}; the table `gaps` says where", trace, losses));
        }
        databases.push_back(std::move(database));
    }
    return reports::read_similar(databases, question_of(arguments));
}

int run_similar(const SimilarArguments& arguments) {
    const base::Log log = base::Log::to_stderr();
    if (std::isnan(arguments.min)) {  // which is in every range
        log.fail("--min: 'nan' is no share: write 0 to 1");
        return kExitUsage;
    }
    confine_reader(log, {arguments.trace, arguments.trace2});
    const Result<reports::SimilarAnswer> answer = read(arguments, log);
    if (!answer.ok()) {
        log.fail(answer.error());
        return exit_status_of(answer.error());
    }
    const std::string out =
        arguments.json
            ? reports::similar_json(answer.value())
            : reports::similar_text(answer.value(), format::terminal_width(STDOUT_FILENO));
    put(out);
    return 0;
}

}  // namespace

void add_similar(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<SimilarArguments>();
    CLI::App* verb = app.add_subcommand(
        "similar", "List what resembles a file, an event or another trace, by content");
    verb->add_option("trace", arguments->trace, "Folder of the trace; it may still be recorded")
        ->type_name("TRACE")
        ->required();
    verb->add_option(
            "trace2", arguments->trace2, "Look there for what resembles what is in the first one")
        ->type_name("TRACE2");
    auto* const path =
        verb->add_option("--path", arguments->path, "What resembles the file that had this name")
            ->type_name("PATH");
    auto* const event = verb->add_option("--event",
                                         arguments->event,
                                         "Which events moved bytes like this one's: its event_id")
                            ->excludes(path)
                            ->type_name("ID");
    verb->add_option("--object", arguments->object, "What resembles this object: its object_id")
        ->excludes(path)
        ->excludes(event)
        ->type_name("ID");
    verb->add_option(
            "--min", arguments->min, "How much of either has to be in the other one, 0 to 1")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str()
        ->type_name("SHARE");
    verb->add_flag("--json", arguments->json, "One JSON object per pair");
    verb->footer(
        "Examples:\n"
        "  dyetrace similar trace --path /var/log/app.log\n"
        "  dyetrace similar trace --event 4711 --min 0.5\n"
        "  dyetrace similar monday tuesday\n"
        "  dyetrace similar trace --json");
    verb->callback([arguments, &exit_status] { exit_status = run_similar(*arguments); });
}

}  // namespace dyetrace::apps
