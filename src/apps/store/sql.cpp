// dyetrace sql: answers SQL about a trace, once or at a prompt, also while it is being recorded.

#include "query/sql.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apps/cli/clock_option.h"
#include "apps/cli/output.h"
#include "apps/cli/sql_prompt.h"
#include "apps/cli/verbs.h"
#include "apps/store/cancel_on_interrupt.h"
#include "apps/store/confine_reader.h"
#include "apps/store/sql_status.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/harmless.h"
#include "base/log.h"
#include "content/content_key.h"
#include "query/analysis_database.h"
#include "query/clock/derived_clock_map.h"
#include "query/damages.h"
#include "query/selected_events.h"
#include "store/database.h"
#include "store/row_writer.h"
#include "trace/trace_folder.h"

namespace dyetrace::apps {
namespace {

// At a prompt a running recording is looked at again when the last look is older; a reader is never 2 s behind.
constexpr std::chrono::seconds kLookAgainAfter{1};

struct SqlArguments {
    std::string trace;
    std::string statement;
    std::string format = "table";
    std::string output;
    int threads = 0;
    std::string memory, temporary;
    std::string content_key;
    std::string clock = "cluster";
    bool is_trusting = false;
};

std::size_t terminal_width() {
    winsize size{};
    if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) {
        return 0;
    }
    return size.ws_col;
}

class SqlSession {
  public:
    SqlSession(const SqlArguments& arguments,
               const base::Log& log,
               std::unique_ptr<store::Database> database,
               base::Fd file)
        : log_(log), database_(std::move(database)), file_(std::move(file)) {
        format_ = arguments.format == "csv"    ? store::RowFormat::kCsv
                  : arguments.format == "json" ? store::RowFormat::kJson
                                               : store::RowFormat::kTable;
    }

    // Complete statements; their rows go to stdout or the file.
    Result<void> run(const std::string& statements) {
        const CancelOnInterrupt scope;  // the statement ends, not the prompt
        TRY(select(statements));
        const bool is_terminal = !file_.valid() && ::isatty(STDOUT_FILENO) == 1;
        const store::TextSink sink = [&](std::string_view text) {
            const std::string harmless = is_terminal ? base::make_lines_harmless(text) : "";
            return base::write_all(out(), base::bytes_of(is_terminal ? harmless : text))
                .with_context(kCannotWrite);
        };
        return database_->ask(
            sql_of_statement(statements),
            [&](store::Rows& rows) {
                return store::write_rows(rows, format_, file_.valid() ? 0 : terminal_width(), sink);
            },
            &CancelOnInterrupt::cancelled());
    }

    // What the page calls `selected` is all of the trace here.
    Result<void> select(const std::string& statements) {
        return selected_->select(
            *database_, base::Json::object(), statements, CancelOnInterrupt::cancelled());
    }

    // What the answers leave out, once per look at the trace.
    void tell_losses() const {
        query::say_damages(*database_, log_);
        if (const std::string losses = database_->losses().text(); !losses.empty()) {
            log_.warn(fmt::format("the trace has {}; the table `gaps` says where", losses));
        }
    }

    Result<void> look_again_if_old() {
        const auto now = std::chrono::steady_clock::now();
        if (database_->state() != trace::TraceState::kRecording ||
            now - looked_ < kLookAgainAfter) {
            return {};
        }
        looked_ = now;
        const std::string before = database_->losses().text();
        TRY(database_->refresh());
        if (database_->losses().text() != before) {
            tell_losses();
        }
        return {};
    }

    store::Database& database() { return *database_; }

  private:
    const base::Fd& out() const { return file_.valid() ? file_ : stdout_; }

    const base::Log& log_;
    std::unique_ptr<store::Database> database_;
    std::unique_ptr<query::SelectedEvents> selected_ =
        std::make_unique<query::SelectedEvents>(query::SelectedEvents::Keep::kNothing);
    base::Fd file_;  // of -o
    base::Fd stdout_{::dup(STDOUT_FILENO)};
    store::RowFormat format_ = store::RowFormat::kTable;
    std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
};

Error with_hint(Error error) {
    const bool is_refused = error.code() == ErrorCode::kUnsupported ||
                            error.text().find("disabled by configuration") != std::string::npos;
    return is_refused ? Error(error.code(), error.text() + " (with --trust everything is)")
                      : std::move(error);
}

// A person types, or a pipe delivers, line by line; a statement ends with a semicolon.
int run_lines(SqlSession& session, const base::Log& log, const std::string& trace) {
    const bool is_terminal = ::isatty(STDIN_FILENO) != 0;
    const auto names = session.database().names();
    SqlPrompt prompt(is_terminal, names.ok() ? names.value() : std::vector<std::string>());
    if (is_terminal) {
        log.say(fmt::format("{}: end a statement with ;  .tables  .schema TABLE  .quit", trace));
    }
    int status = 0;
    while (auto statement = prompt.next_statement()) {
        Result<void> done = session.look_again_if_old();
        done = done.ok() ? session.run(*statement) : std::move(done);
        if (!done.ok()) {
            log.fail(with_hint(done.error()));
            status = exit_status_of_sql(done.error());
            if (!is_terminal) {
                return status;
            }
        }
    }
    return is_terminal ? 0 : status;
}

Result<void> write_parquet(SqlSession& session, const SqlArguments& arguments) {
    if (arguments.output.empty() || arguments.statement.empty()) {
        return Error(ErrorCode::kInvalidArgument,
                     "--format parquet needs one statement and -o FILE");
    }
    TRY(session.select(arguments.statement));
    // DuckDB would let everybody read it
    const auto made =
        base::open_file(arguments.output, O_WRONLY | O_CREAT | O_EXCL, base::kPrivateFile);
    Result<void> written = session.database().write_parquet(arguments.statement, arguments.output);
    if (!written.ok() && made.ok()) {
        ::unlink(arguments.output.c_str());
    }
    return written;
}

Result<SqlSession> start(const SqlArguments& arguments, const base::Log& log) {
    if (arguments.format == "arrow") {
        return Error(ErrorCode::kUnsupported,
                     "DuckDB 1.4 writes Arrow streams only with an extension, and dyetrace fetches "
                     "none: take --format "
                     "parquet, which every Arrow library reads");
    }
    TRY(trace::TraceFolder::expect_outside(arguments.output));
    query::AnalysisDatabaseOptions options{.database = {.threads = arguments.threads,
                                                        .memory_limit = arguments.memory,
                                                        .temporary_limit = arguments.temporary,
                                                        .is_trusting = arguments.is_trusting},
                                           .clock = arguments.clock};
    if (!arguments.content_key.empty()) {
        TRY(options.key, content::content_key(arguments.content_key));
    }
    if (arguments.format == "parquet" && !arguments.output.empty()) {
        options.database.files = {arguments.output};
    }
    if (arguments.is_trusting) {
        trace::keep_files_private(arguments.trace);
    } else {
        const char* const home = std::getenv("HOME");  // where a prompt keeps what was typed
        const bool has_prompt = arguments.statement.empty() && ::isatty(STDIN_FILENO) != 0;
        confine_reader(
            log,
            {arguments.trace},
            {arguments.output, has_prompt && home != nullptr ? std::string(home) + "/." : ""});
    }
    TRY(auto database, query::open_analysis_database(arguments.trace, options));
    base::Fd file;
    if (!arguments.output.empty() && arguments.format != "parquet") {
        TRY(file,
            base::open_file(arguments.output, O_WRONLY | O_CREAT | O_TRUNC, base::kPrivateFile));
    }
    return SqlSession(arguments, log, std::move(database), std::move(file));
}

int run_sql(SqlArguments arguments) {
    const base::Log log = base::Log::to_stderr();
    if (arguments.statement.starts_with('.')) {  // what a prompt knows, a shell may say, too
        const std::string command = sql_of_command(arguments.statement).value_or(";");
        if (command == sql_of_command(".")) {
            log.fail(fmt::format("'{}' is no command: .tables  .schema TABLE  .quit",
                                 base::make_lines_harmless(arguments.statement)));
            return kExitUsage;
        }
        arguments.statement = command;
    }
    Result<SqlSession> session = start(arguments, log);
    if (!session.ok()) {
        log.fail(session.error());
        return exit_status_of(session.error());
    }
    session.value().tell_losses();
    if (arguments.format != "parquet" && arguments.statement.empty()) {
        return run_lines(session.value(), log, arguments.trace);
    }
    const Result<void> done = arguments.format == "parquet"
                                  ? write_parquet(session.value(), arguments)
                                  : session.value().run(arguments.statement);
    if (!done.ok()) {
        log.fail(with_hint(done.error()));
        return exit_status_of_sql(done.error());
    }
    return 0;
}

std::string examples() {
    namespace sql = query::sql;
    const std::pair<std::string_view, const char*> statements[] = {
        {sql::kExamplesBytes, ""},
        {sql::kExamplesErrors, " --format json"},
        {sql::kExamplesContent, ""},
        {sql::kExamplesTimes, ""},
        {sql::kExamplesCauses, ""},
        {sql::kExamplesWokenBy, ""},
        {sql::kExamplesConversations, ""}};
    std::string text = "Examples:\n";
    for (const auto& [statement, options] : statements) {
        text += fmt::format("  dyetrace sql trace \"{}\"{}\n", statement, options);
    }
    return text +
           "  dyetrace sql trace .tables\n"
           "  dyetrace sql trace \".schema events\"\n"
           "  dyetrace sql trace < questions.sql";
}

}  // namespace

void add_sql(CLI::App& app, int& exit_status) {
    auto arguments = std::make_shared<SqlArguments>();
    CLI::App* verb =
        app.add_subcommand("sql", "Ask a trace in SQL, at a prompt or with one statement");
    verb->add_option("trace", arguments->trace, "Folder of the trace; it may still be recorded")
        ->required()
        ->type_name("TRACE");
    verb->add_option("statement",
                     arguments->statement,
                     "SQL (DuckDB's dialect); without it, a prompt or lines from a pipe")
        ->type_name("SQL");
    verb->add_option(
            "--format",
            arguments->format,
            "How to write the answer: table, csv, json, parquet (json: an object per line)")
        ->check(CLI::IsMember({"table", "csv", "json", "parquet", "arrow"}))
        ->capture_default_str()
        ->type_name("FORMAT");
    verb->add_option("-o,--output", arguments->output, "Write there instead of to stdout")
        ->type_name("FILE");
    verb->add_option(
            "--threads", arguments->threads, "Threads of a query (default: as many as CPUs)")
        ->check(CLI::Range(1, 1024))
        ->type_name("N");
    verb->add_option(
            "--memory",
            arguments->memory,
            "What a query may hold: 512MB, 2GB (default: 3 GB, or a quarter of the machine)")
        ->type_name("SIZE");
    verb->add_option(
            "--temporary",
            arguments->temporary,
            "What it may put below $TMPDIR beyond that: 8GB (default: 90 % of what is free)")
        ->type_name("SIZE");
    verb->add_flag("--trust",
                   arguments->is_trusting,
                   "SQL may do what you may: read and write other files, make tables and views");
    verb->add_option("--content-key",
                     arguments->content_key,
                     "The key that the trace was recorded with, for fingerprint_of(): hex:DIGITS "
                     "or @FILE")
        ->type_name("KEY");
    add_clock_option(*verb, arguments->clock);
    verb->footer(examples());
    verb->callback([arguments, &exit_status] { exit_status = run_sql(*arguments); });
}

}  // namespace dyetrace::apps
