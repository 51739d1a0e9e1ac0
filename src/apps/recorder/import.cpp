// dyetrace import: logs of other tracers become a trace.

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/verbs.h"
#include "base/log.h"
#include "base/spawn.h"
#include "base/text.h"
#include "base/version.h"
#include "importer/importer.h"

namespace dyetrace::apps {
namespace {

struct ImportArguments {
    std::vector<std::string> files;
    std::string trace;
    std::string format, date, time_unit;
    std::string host = "host";
    bool no_seal = false;
    bool quiet = false;
};

// 0:00 of "2026-11-22" in ns since 1970.
Result<std::int64_t> day_of(const std::string& date) {
    std::tm parts{};
    const char* const end = ::strptime(date.c_str(), "%Y-%m-%d", &parts);
    if (end == nullptr || *end != '\0') {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("--date={}: a day is written as 2026-11-22", date));
    }
    return static_cast<std::int64_t>(::timegm(&parts)) * 1'000'000'000;
}

Result<importer::ImportQuestion> question_of(const ImportArguments& arguments) {
    using importer::TimeUnit;
    importer::ImportQuestion question;
    question.files = arguments.files;
    question.trace_path = arguments.trace;
    question.program = fmt::format("dyetrace {}", base::kVersion);
    question.options.host = arguments.host;
    question.as_given.emplace_back("imported", fmt::format("{}", fmt::join(arguments.files, " ")));
    if (!arguments.format.empty()) {
        question.format = arguments.format == "falcon" ? importer::LogFormat::kFalcon
                                                       : importer::LogFormat::kStrace;
    }
    if (!arguments.date.empty()) {
        TRY(question.options.day_ns, day_of(arguments.date));
        question.options.day_is_known = true;
    }
    for (const auto& [word, unit] : {std::pair("s", TimeUnit::kSeconds),
                                     std::pair("ms", TimeUnit::kMilliseconds),
                                     std::pair("us", TimeUnit::kMicroseconds),
                                     std::pair("ns", TimeUnit::kNanoseconds)}) {
        if (arguments.time_unit == word) {
            question.options.time_unit = unit;
        }
    }
    return question;
}

// Seals in a process of its own: this program has no DuckDB. What fails there leaves a trace that can be read as it is.
void seal(const std::string& trace, const base::Log& log) {
    const Result<pid_t> started =
        base::spawn_in_background("/proc/self/exe", {"dyetrace", "seal", "--quiet", trace});
    int status = 0;
    if (!started.ok() || ::waitpid(started.value(), &status, 0) < 0 || status != 0) {
        log.warn(fmt::format("the trace stays in segments until `dyetrace seal {}` is run", trace));
    }
}

int run_import(const ImportArguments& arguments) {
    ::umask(0077);  // what others logged may be secret
    const base::Log log = base::Log::to_stderr();
    const Result<importer::ImportQuestion> question = question_of(arguments);
    if (!question.ok()) {
        log.fail(question.error());
        return kExitUsage;
    }
    const auto begin = std::chrono::steady_clock::now();
    const Result<importer::ImportSummary> imported = importer::import_logs(question.value());
    if (!imported.ok()) {
        log.fail(imported.error());
        return kExitFailure;
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    const importer::ImportSummary& summary = imported.value();
    for (const importer::Problem& problem : summary.problems) {
        log.warn(fmt::format(
            "{}{}", problem.loses_event ? "not in the trace: " : "in doubt: ", text_of(problem)));
    }
    if (!arguments.quiet) {
        log.say(fmt::format("{}: {} events of {} {} ({}), {} in {:.1f} s",
                            arguments.trace,
                            base::with_separators(summary.events),
                            summary.hosts,
                            summary.hosts == 1 ? "host" : "hosts",
                            summary.format == importer::LogFormat::kFalcon ? "falcon" : "strace",
                            base::bytes_text(summary.stored_bytes),
                            elapsed.count()));
    }
    if (!arguments.no_seal) {
        seal(arguments.trace, log);
    }
    return 0;
}

}  // namespace

void add_import(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<ImportArguments>();
    CLI::App* verb = app.add_subcommand("import", "Make a trace of logs of Falcon, CaT or strace");
    verb->add_option(
            "log", arguments->files, "Logs; - is standard input; of strace -ff all files of a run")
        ->required()
        ->type_name("LOG");
    verb->add_option("-o,--output", arguments->trace, "Folder for the trace, needed")
        ->required()
        ->type_name("TRACE");
    verb->add_option("--format",
                     arguments->format,
                     "What wrote the logs, falcon or strace; else told by their beginning")
        ->check(CLI::IsMember({"falcon", "strace"}))
        ->type_name("FORMAT");
    verb->add_option(
            "--date", arguments->date, "Day on which a log with times of day begins, as 2026-11-22")
        ->type_name("DAY");
    verb->add_option("--host", arguments->host, "Name of the host that a log of strace is of")
        ->type_name("NAME");
    verb->add_option("--time-unit",
                     arguments->time_unit,
                     "Of Falcon's timestamps: s, ms, us, ns; else told by the first of each log")
        ->check(CLI::IsMember({"s", "ms", "us", "ns"}))
        ->type_name("UNIT");
    verb->add_flag("--no-seal", arguments->no_seal, "Leave the trace in segments");
    verb->add_flag("-q,--quiet", arguments->quiet, "Say nothing when all went well");
    verb->footer(
        "Examples:\n"
        "  dyetrace import make.log -o make\n"
        "  dyetrace import zk1.log zk2.log zkclient.log -o zk\n"
        "  dyetrace import trace.* --date 2026-11-22 --host web1 -o web1\n"
        "  zstdcat old.json.zst | dyetrace import - -o old");
    verb->callback([arguments, &exit_status] { exit_status = run_import(*arguments); });
}

}  // namespace dyetrace::apps
