// dyetrace live: a question in SQL, answered while things happen; what can be counted is counted in the kernel.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>

#include "apps/cli/output.h"
#include "apps/cli/target_options.h"
#include "apps/cli/verbs.h"
#include "apps/recorder/losses.h"
#include "base/amounts.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "capture/probe_lookup.h"
#include "filter/grouping.h"
#include "format/table.h"
#include "query/questions.h"
#include "query/sql.h"
#include "recorder/child.h"
#include "recorder/confine_recorder.h"
#include "recorder/listener.h"
#include "recorder/live_answers.h"
#include "recorder/live_counter.h"
#include "trace/trace_info.h"

namespace dyetrace::apps {
namespace {

struct LiveArguments {
    TargetOptions targets;
    std::string statement;
    std::string every, until;
    bool json = false, csv = false;
    bool adds_up = false;
    bool explains = false;
    bool lists = false;
};

// A ready question may be asked by its name.
std::string statement_of(const LiveArguments& arguments) {
    for (const auto& [name, text] : query::questions::kAll) {
        if (name == arguments.statement) {
            return std::string(text);
        }
    }
    return arguments.statement;
}

void list_questions() {
    std::size_t width = 0;
    for (const auto& [name, sentence] : query::questions::kSentences) {
        width = std::max(width, name.size());
    }
    const std::string indent(width + 2, ' ');
    const std::size_t columns =
        std::max<std::size_t>(format::terminal_width(STDOUT_FILENO), width + 40);
    for (const auto& [name, sentence] : query::questions::kSentences) {
        std::string lines = base::wrapped(std::string(sentence), columns - indent.size(), "");
        for (std::size_t at = lines.find('\n'); at != std::string::npos;
             at = lines.find('\n', at + 1)) {
            lines.insert(at + 1, indent);
        }
        put(fmt::format("{:<{}}  {}\n", name, width, lines));
    }
}

std::vector<std::string> answer_options(const LiveArguments& arguments) {
    std::vector<std::string> options{"--format",
                                     arguments.json  ? "json"
                                     : arguments.csv ? "csv"
                                                     : "table"};
    if (!arguments.every.empty()) {
        options.emplace_back("--stream");
    }
    if (!arguments.until.empty()) {
        options.insert(options.end(), {"--until", arguments.until});
    }
    if (arguments.explains) {
        options.emplace_back("--explain");
    }
    return options;
}

std::string remark_of(const recorder::LiveCounter& counter, const filter::GroupTable& table) {
    std::string remark = counter.missing();
    if (table.left_out() > 0) {
        remark += fmt::format("{}{} rows left out: there is room for {} groups",
                              remark.empty() ? "" : ", ",
                              base::with_separators(table.left_out()),
                              base::with_separators(filter::GroupTable::kGroupsMax));
    }
    return remark;
}

// The probe that a statement is about, once it was looked up.
class ProbeFinder {
  public:
    Result<std::vector<filter::RowColumn>> operator()(const filter::ProbeQuestion& question) {
        TRY(probe_, capture::find_probe(question));
        return probe_->row;
    }

    std::optional<capture::Probe>& probe() { return probe_; }

  private:
    std::optional<capture::Probe> probe_;
};

Result<std::optional<int>> watch(const LiveArguments& arguments,
                                 recorder::LiveAnswers& answers,
                                 recorder::Targets targets,
                                 std::optional<capture::Probe> probe) {
    std::chrono::nanoseconds every{0};
    if (!arguments.every.empty()) {
        TRY(every, base::parse_duration(arguments.every));
    }
    TRY(const trace::Host host, trace::this_host());
    const bool is_probe = probe.has_value();
    TRY(const std::unique_ptr<recorder::LiveCounter> counter,
        probe
            ? recorder::LiveCounter::of_probe(
                  std::move(targets), *std::move(probe), *answers.grouping())
            : recorder::LiveCounter::of_events(std::move(targets), *answers.grouping(), host.name));
    TRY(counter->begin(answers.pid()));
    if (!is_probe) {  // names of stacks are read in files and memory of others
        recorder::confine_recorder(base::Log::to_stderr(), "", false);
    }
    recorder::Listener& listener = counter->listener();
    std::int64_t begin_ns = base::wall_time_ns(), due_ns = begin_ns + every.count();
    bool last = false;
    while (!last) {
        const std::int64_t left_ms = (due_ns - base::wall_time_ns()) / 1'000'000;
        listener.wait(
            every.count() == 0 ? 100 : static_cast<int>(std::clamp<std::int64_t>(left_ms, 1, 100)));
        counter->drain();
        if (answers.ended()) {  // --until holds, or nobody reads
            break;
        }
        last = listener.ended();
        if (last) {
            TRY(counter->end());
        } else if (every.count() == 0 || base::wall_time_ns() < due_ns) {
            continue;
        }
        TRY(counter->take());
        const std::int64_t end_ns = base::wall_time_ns();
        if (const auto said = answers.say({begin_ns, end_ns, remark_of(*counter, counter->table())},
                                          counter->table().groups());
            !said.ok()) {
            break;
        }
        if (!arguments.adds_up) {
            counter->table().clear();
            begin_ns = end_ns;
        }
        due_ns = std::max(due_ns + every.count(), end_ns);
    }
    const base::Log log = base::Log::to_stderr();
    log.say(counter->summary());
    warn_of_losses(log, listener.capture().accounting());
    if (const std::string missing = counter->missing(); is_probe && !missing.empty()) {
        log.warn(missing);
    }
    return listener.command_status();
}

int run_live(const LiveArguments& arguments) {
    const base::Log log = base::Log::to_stderr();
    if (arguments.lists) {
        list_questions();
        return 0;
    }
    auto targets = arguments.targets.targets();
    ProbeFinder finder;
    auto answers = targets.ok()
                       ? recorder::LiveAnswers::start(
                             statement_of(arguments), answer_options(arguments), std::ref(finder))
                       : Result<recorder::LiveAnswers>(targets.error());
    if (!answers.ok()) {
        log.fail(answers.error());
        return exit_status_of(answers.error());
    }
    if (!answers.value().grouping()) {  // it was explained, or refused
        return answers.value().end();
    }
    const Result<std::optional<int>> status =
        watch(arguments, answers.value(), std::move(targets).value(), std::move(finder.probe()));
    const int answered = answers.value().end();
    if (!status.ok()) {
        log.fail(status.error());
        return recorder::status_of_failed_start(arguments.targets.command);
    }
    return answered != 0 ? answered : status.value() ? recorder::pass_on(*status.value()) : 0;
}

}  // namespace

void add_live(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<LiveArguments>();
    arguments->targets.all = false;
    CLI::App* verb =
        app.add_subcommand("live", "Answer a question in SQL while things happen, without a trace");
    CLI::Option* const statement =
        verb->add_option("statement",
                         arguments->statement,
                         "The question: a statement over events or a probe (DuckDB's dialect), or "
                         "the name of a ready one")
            ->required()
            ->type_name("SQL statement");
    add_target_options(*verb, arguments->targets);
    CLI::Option* const every =
        verb->add_option(
                "--every", arguments->every, "Answer again and again, for each stretch of time")
            ->type_name("TIME");
    verb->add_option("--until",
                     arguments->until,
                     "End after the first answer with a row for which this holds")
        ->type_name("CONDITION")
        ->needs(every);
    verb->add_flag("--total", arguments->adds_up, "Each answer is about all since the beginning");
    verb->add_flag("--json", arguments->json, "One JSON object per row");
    verb->add_flag("--csv", arguments->csv, "CSV with a header line");
    verb->add_flag("--explain", arguments->explains, "Say what would be counted where, and end");
    // options are read before what is required is looked for
    verb->add_flag("--list", arguments->lists, "Show the ready questions, and end")
        ->each([statement](const std::string&) { statement->required(false); });
    verb->footer(
        fmt::format("Without a target the whole system is watched. Ctrl-C ends.\n\n"
                    "Examples:\n"
                    "  dyetrace live --every 1s \"{}\"\n"
                    "  dyetrace live \"{}\" -- git gc\n"
                    "  dyetrace live off_cpu --duration 10s",
                    query::sql::kExamplesCalls,
                    query::sql::kExamplesCalls));
    verb->callback([arguments, &exit_status] {
        TargetOptions& targets = arguments->targets;
        targets.all = targets.all || (targets.command.empty() && targets.processes.empty());
        exit_status = run_live(*arguments);
    });
}

}  // namespace dyetrace::apps
