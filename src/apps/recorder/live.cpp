// dyetrace live: a question in SQL, answered while things happen; what can be counted is counted in the kernel.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "apps/cli/target_options.h"
#include "apps/cli/verbs.h"
#include "apps/recorder/losses.h"
#include "base/amounts.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "capture/kernel_groups.h"
#include "filter/grouping.h"
#include "query/sql.h"
#include "recorder/child.h"
#include "recorder/listener.h"
#include "recorder/live_answers.h"
#include "schema/dictionary.h"
#include "schema/record.h"
#include "trace/trace_info.h"

namespace dyetrace::apps {
namespace {

struct LiveArguments {
    TargetOptions targets;
    std::string statement;
    std::string every;
    bool json = false, csv = false;
    bool adds_up = false;
    bool explains = false;
};

std::vector<std::string> answer_options(const LiveArguments& arguments) {
    std::vector<std::string> options{"--format",
                                     arguments.json  ? "json"
                                     : arguments.csv ? "csv"
                                                     : "table"};
    if (!arguments.every.empty()) {
        options.emplace_back("--stream");
    }
    if (arguments.explains) {
        options.emplace_back("--explain");
    }
    return options;
}

// Counts what the kernel hands out, and asks it for what it has counted.
class Counter {
  public:
    Counter(recorder::Listener& listener, const filter::Grouping& grouping, const std::string& host)
        : listener_(listener), table_(grouping, host) {}

    void drain() {
        listener_.capture().drain(
            [this](std::uint32_t cpu, schema::Stream stream, std::span<const std::byte> records) {
                for (schema::RecordBytes record = schema::first_record(records); !record.empty();
                     record = schema::first_record(records)) {
                    if (stream == schema::Stream::kFacts) {
                        dictionary_.add(record);
                    } else if (table_.add(record, static_cast<std::uint16_t>(cpu), dictionary_)) {
                        ++counted_;
                    }
                    records = records.subspan(record.size());
                }
            });
    }

    Result<void> take() {
        drain();
        return listener_.capture().groups()->take(table_);
    }

    filter::GroupTable& table() { return table_; }

    // "events counted in the kernel: 1,200, here: 3"
    std::string summary() const {
        const std::string& refused = listener_.capture().groups()->refused();
        return fmt::format("events counted in the kernel: {}, here: {}{}",
                           base::with_separators(listener_.capture().accounting().aggregated),
                           base::with_separators(counted_),
                           refused.empty() ? "" : ", as " + refused);
    }

  private:
    recorder::Listener& listener_;
    filter::GroupTable table_;
    schema::Dictionary dictionary_;
    std::uint64_t counted_ = 0;
};

std::string remark_of(const capture::Accounting& accounting, const filter::GroupTable& table) {
    std::string remark;
    if (accounting.lost > 0) {
        remark = fmt::format("{} events lost since the beginning",
                             base::with_separators(accounting.lost));
    }
    if (table.left_out() > 0) {
        remark += fmt::format("{}{} events left out: there is room for {} groups",
                              remark.empty() ? "" : ", ",
                              base::with_separators(table.left_out()),
                              base::with_separators(filter::GroupTable::kGroupsMax));
    }
    return remark;
}

Result<std::optional<int>> watch(const LiveArguments& arguments,
                                 recorder::LiveAnswers& answers,
                                 recorder::Targets targets) {
    std::chrono::nanoseconds every{0};
    if (!arguments.every.empty()) {
        TRY(every, base::parse_duration(arguments.every));
    }
    TRY(const trace::Host host, trace::this_host());
    capture::CaptureOptions options;
    options.predicate = answers.grouping()->where;
    options.grouping = answers.grouping();
    options.host = host.name;
    TRY(recorder::Listener listener, recorder::Listener::start(std::move(targets), options));
    TRY(listener.capture().exclude(answers.pid()));
    TRY(listener.attach());
    TRY(listener.release());
    Counter counter(listener, *answers.grouping(), host.name);
    std::int64_t begin_ns = base::wall_time_ns(), due_ns = begin_ns + every.count();
    bool last = false;
    while (!last) {
        const std::int64_t left_ms = (due_ns - base::wall_time_ns()) / 1'000'000;
        listener.wait(
            every.count() == 0 ? 100 : static_cast<int>(std::clamp<std::int64_t>(left_ms, 1, 100)));
        counter.drain();
        last = listener.ended();
        if (last) {
            TRY(listener.end());
        } else if (every.count() == 0 || base::wall_time_ns() < due_ns) {
            continue;
        }
        TRY(counter.take());
        const std::int64_t end_ns = base::wall_time_ns();
        if (const auto said = answers.say(
                {begin_ns, end_ns, remark_of(listener.capture().accounting(), counter.table())},
                counter.table().groups());
            !said.ok()) {
            break;
        }
        if (!arguments.adds_up) {
            counter.table().clear();
            begin_ns = end_ns;
        }
        due_ns = std::max(due_ns + every.count(), end_ns);
    }
    const base::Log log = base::Log::to_stderr();
    log.say(counter.summary());
    warn_of_losses(log, listener.capture().accounting());
    return listener.command_status();
}

int run_live(const LiveArguments& arguments) {
    const base::Log log = base::Log::to_stderr();
    auto targets = arguments.targets.targets();
    auto answers =
        targets.ok() ? recorder::LiveAnswers::start(arguments.statement, answer_options(arguments))
                     : Result<recorder::LiveAnswers>(targets.error());
    if (!answers.ok()) {
        log.fail(answers.error());
        return exit_status_of(answers.error());
    }
    if (!answers.value().grouping()) {  // it was explained, or refused
        return answers.value().end();
    }
    const Result<std::optional<int>> status =
        watch(arguments, answers.value(), std::move(targets).value());
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
    verb->add_option("statement",
                     arguments->statement,
                     "The question: a statement over events (DuckDB's dialect)")
        ->required()
        ->type_name("SQL");
    add_target_options(*verb, arguments->targets);
    verb->add_option(
            "--every", arguments->every, "Answer again and again, for each stretch of time")
        ->type_name("TIME");
    verb->add_flag("--total", arguments->adds_up, "Each answer is about all since the beginning");
    verb->add_flag("--json", arguments->json, "One JSON object per row");
    verb->add_flag("--csv", arguments->csv, "CSV with a header line");
    verb->add_flag("--explain", arguments->explains, "Say what would be counted where, and end");
    verb->footer(
        fmt::format("Without a target the whole system is watched. Ctrl-C ends.\n\n"
                    "Examples:\n"
                    "  dyetrace live --every 1s \"{}\"\n"
                    "  dyetrace live \"{}\" -- git gc",
                    query::sql::kExamplesCalls,
                    query::sql::kExamplesCalls));
    verb->callback([arguments, &exit_status] {
        TargetOptions& targets = arguments->targets;
        targets.all = targets.all || (targets.command.empty() && targets.processes.empty());
        exit_status = run_live(*arguments);
    });
}

}  // namespace dyetrace::apps
