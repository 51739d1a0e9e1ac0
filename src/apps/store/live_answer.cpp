// dyetrace live-answer: the half of `dyetrace live` that knows SQL; the other half starts it (recorder/live_answers.h).

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "apps/cli/output.h"
#include "apps/cli/verbs.h"
#include "apps/store/confine_reader.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/harmless.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "filter/grouping_json.h"
#include "format/top_table.h"
#include "query/live/live_plan.h"
#include "store/row_writer.h"

namespace dyetrace::apps {
namespace {

constexpr int kPlanDescriptor = 3;

struct LiveAnswerArguments {
    std::string statement;
    std::string format = "table";
    std::string until;       // a condition on a row of an answer, after which no other is said
    bool is_stream = false;  // of windows
    bool explains = false;
};

class Answers {
  public:
    Answers(const LiveAnswerArguments& arguments, query::LivePlan plan)
        : arguments_(arguments), plan_(std::move(plan)) {
        format_ = arguments.format == "csv"    ? store::RowFormat::kCsv
                  : arguments.format == "json" ? store::RowFormat::kJson
                                               : store::RowFormat::kTable;
        redraws_ = format_ == store::RowFormat::kTable && ::isatty(STDOUT_FILENO) == 1 &&
                   arguments.is_stream;
    }

    Result<void> say(const std::string& line) {
        TRY(const base::Json window, base::Json::parse(line));
        std::int64_t begin_ns = 0, end_ns = 0;
        std::string remark;
        TRY(window.read("begin_ns", begin_ns, "end_ns", end_ns, "remark", remark));
        const base::Json* const list = window.find("groups");
        TRY(const std::vector<filter::Group> groups,
            filter::groups_from(list == nullptr ? base::Json() : *list));
        if (format_ == store::RowFormat::kTable && arguments_.is_stream) {
            put(fmt::format("{}{}{}\n",
                            redraws_ ? format::kClearScreen : (windows_ > 0 ? "\n" : ""),
                            base::duration_text(static_cast<std::uint64_t>(end_ns - begin_ns)),
                            remark.empty() ? "" : ": " + remark));
            is_output_written();  // before the rows
        }
        const bool is_dated = arguments_.is_stream && format_ != store::RowFormat::kTable;
        TRY(plan_.answer(groups,
                         is_dated ? std::optional(end_ns) : std::nullopt,
                         [&](store::Rows& rows) { return write(rows); }));
        ++windows_;
        if (!arguments_.until.empty()) {
            TRY(ended_, plan_.has_row(arguments_.until));
        }
        return {};
    }

    // What was to hold does.
    bool ended() const { return ended_; }

  private:
    Result<void> write(store::Rows& rows) {
        const base::Fd out(::dup(STDOUT_FILENO));
        bool skips_line = format_ == store::RowFormat::kCsv && windows_ > 0;  // the header
        return store::write_rows(rows, format_, width(), [&](std::string_view text) {
            if (skips_line) {
                const std::size_t end = text.find('\n');
                skips_line = end == std::string_view::npos;
                text.remove_prefix(skips_line ? text.size() : end + 1);
            }
            const std::string harmless = redraws_ ? base::make_lines_harmless(text) : "";
            return base::write_all(out, base::bytes_of(redraws_ ? harmless : text))
                .with_context(kCannotWrite);
        });
    }

    static std::size_t width() {
        winsize size{};
        return ::isatty(STDOUT_FILENO) == 1 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0
                   ? size.ws_col
                   : 0;
    }

    const LiveAnswerArguments& arguments_;
    query::LivePlan plan_;
    store::RowFormat format_ = store::RowFormat::kTable;
    bool redraws_ = false, ended_ = false;
    std::uint64_t windows_ = 0;
};

// The other half looks the probe up: this one has no rights to.
Result<std::vector<filter::RowColumn>> types_of(const base::Fd& asks,
                                                const filter::ProbeQuestion& question) {
    TRY(base::write_all(asks, base::bytes_of(filter::json_of(question).text() + "\n")));
    char* line = nullptr;
    std::size_t size = 0;
    const ssize_t length = ::getline(&line, &size, stdin);
    const std::string said =
        length > 0 ? std::string(line, static_cast<std::size_t>(length)) : "{}";
    std::free(line);
    TRY(const base::Json answer, base::Json::parse(said));
    const base::Json* const types = answer.find("columns");
    return types != nullptr ? filter::row_columns_from(*types)
                            : Error(ErrorCode::kInvalidArgument,
                                    answer.get<std::string>("error").value_or("nobody answers"));
}

Result<void> answer(const LiveAnswerArguments& arguments) {
    base::Fd plan_file(kPlanDescriptor);
    TRY(query::LivePlan plan,
        query::LivePlan::of(arguments.statement, [&](const filter::ProbeQuestion& question) {
            return types_of(plan_file, question);
        }));
    if (!arguments.until.empty()) {
        TRY(plan.keep_answers());
        TRY(plan.has_row(arguments.until));  // before anything is watched
    }
    if (arguments.explains) {
        for (const std::string& line : plan.explanation()) {
            put(fmt::format("{}\n", line));
        }
        return {};
    }
    const std::string text = filter::json_of(plan.grouping()).text() + "\n";
    TRY(base::write_all(plan_file, base::bytes_of(text)));
    plan_file.reset();
    Answers answers(arguments, std::move(plan));
    char* line = nullptr;
    std::size_t size = 0;
    Result<void> said;
    while (said.ok() && !answers.ended() && ::getline(&line, &size, stdin) > 0) {
        said = answers.say(line);
    }
    std::free(line);
    return said;
}

int run_live_answer(const LiveAnswerArguments& arguments) {
    const base::Log log = base::Log::to_stderr();
    confine_reader(log, {});
    const Result<void> done = answer(arguments);
    if (!done.ok()) {
        log.fail(done.error());
        return exit_status_of(done.error());
    }
    return 0;
}

}  // namespace

void add_live_answer(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<LiveAnswerArguments>();
    CLI::App* verb = app.add_subcommand("live-answer", "")->group("");
    verb->add_option("--format", arguments->format);
    verb->add_option("--until", arguments->until);
    verb->add_flag("--stream", arguments->is_stream);
    verb->add_flag("--explain", arguments->explains);
    verb->add_option("statement", arguments->statement)->required();
    verb->callback([arguments, &exit_status] { exit_status = run_live_answer(*arguments); });
}

}  // namespace dyetrace::apps
