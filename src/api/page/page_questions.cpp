#include "api/page/page_questions.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/file_answer.h"
#include "api/page/page_export.h"
#include "api/page/page_follow.h"
#include "api/page/page_rows.h"
#include "api/page/sql.h"
#include "api/query_answer.h"
#include "base/clock.h"
#include "filter/predicate.h"
#include "query/asked_rows.h"
#include "reports/follow/follow_output.h"
#include "reports/follow/follow_reader.h"
#include "reports/overview/report_reader.h"
#include "reports/overview/report_text.h"

namespace dyetrace::api {
namespace {

using base::Json;

struct PageQuestion {
    store::Database& database;
    query::SelectedEvents& trace;
    std::string_view clock;
    const Json& body;
    const std::atomic<bool>& cancelled;
};

using PageAnswer = Result<api::Answer> (*)(const PageQuestion& question);

api::Question on_pool(api::DatabasePool& pool,
                      query::SelectedEvents& trace,
                      std::string clock,
                      std::string name,
                      PageAnswer make) {
    return {std::move(name),
            [&pool, &trace, clock = std::move(clock), make](
                const Json& body, const std::atomic<bool>& cancelled) -> Result<api::Answer> {
                api::Answer answer;
                TRY(pool.with(cancelled, [&](store::Database& database) -> Result<void> {
                    TRY(answer, make({database, trace, clock, body, cancelled}));
                    return {};
                }));
                return answer;
            }};
}

Result<Json> column_of(store::Database& database, std::string_view statement) {
    Json cells = Json::array();
    TRY(query::each_row(
        database, std::string(statement), [&](query::Row row) { cells.append(row[0].text); }));
    return cells;
}

// Reads, here, the clock that the trace is shown with.
std::int64_t now_ns(std::string_view clock) {
    return clock == "raw" ? base::boot_time_ns() : base::wall_time_ns();
}

Result<api::Answer> trace_answer(const PageQuestion& question) {
    store::Database& database = question.database;
    TRY(const query::TraceSpan span, question.trace.span(database));
    TRY(Json hosts, column_of(database, page::sql::kHosts));
    Json damages = Json::array();
    for (const std::string& damage : database.damages()) {
        damages.append(damage);
    }
    return api::Answer{
        .body = Json::object()
                    .set("path", database.path())
                    .set("is_recording", database.state() == trace::TraceState::kRecording)
                    .set("begin_ns", std::to_string(span.begin_ns))
                    .set("duration_ns", span.end_ns - span.begin_ns)
                    .set("age_ns", std::max<std::int64_t>(now_ns(question.clock) - span.end_ns, 0))
                    .set("events", span.events)
                    .set("hosts", std::move(hosts))
                    .set("losses", database.losses().text())
                    .set("damages", std::move(damages))
                    .text()};
}

Result<api::Answer> names_answer(const PageQuestion& question) {
    TRY(const std::vector<std::string> names, question.database.names());
    TRY(Json columns, column_of(question.database, page::sql::kEventColumns));
    Json all = Json::array();
    for (const std::string& name : names) {
        all.append(name);
    }
    return api::Answer{
        .body =
            Json::object().set("sql", std::move(all)).set("columns", std::move(columns)).text()};
}

Result<api::Answer> filter_answer(const PageQuestion& question) {
    TRY(const std::string where, question.body.get<std::string>("where"));
    TRY(const filter::Predicate predicate,
        where.empty() ? Result(filter::Predicate()) : filter::Predicate::parse(where));
    return api::Answer{.body = Json::object().set("sql", predicate.to_sql()).text()};
}

Result<api::Answer> query_answer(const PageQuestion& question) {
    TRY(const std::string sql, question.body.get<std::string>("sql"));
    TRY(question.trace.select(question.database, question.body, sql, question.cancelled));
    return api::query_answer(question.database, question.body, question.cancelled);
}

Result<api::Answer> rows_answer(const PageQuestion& question) {
    TRY(const std::string sql, page_statement(question.body));
    TRY(question.trace.select(question.database, question.body, sql, question.cancelled));
    return api::rows_answer(question.database, sql, question.body, question.cancelled);
}

Result<api::Answer> examples_answer(const PageQuestion&) {
    return api::Answer{.body = page_examples().text()};
}

Result<api::Answer> save_answer(const PageQuestion& question) {
    TRY(const std::string sql, question.body.get<std::string>("sql"));
    TRY(question.trace.select(question.database, question.body, sql, question.cancelled));
    return api::file_answer(question.database, question.body, question.cancelled);
}

Result<api::Answer> event_file_answer(const PageQuestion& question) {
    return export_answer(
        question.database, question.trace, question.clock, question.body, question.cancelled);
}

Result<api::Answer> follow_answer(const PageQuestion& question) {
    TRY(const reports::FollowQuestion asked, follow_question_in(question.body));
    TRY(const reports::FollowTrail trail,
        reports::read_trail(question.database, asked, &question.cancelled));
    return api::Answer{.body = reports::follow_json(trail)};
}

// The selection of a question, if it has one: its calls, and the times of CLOCK_BOOTTIME between which what is no call may lie.
Result<reports::ReportScope> scope_of(const PageQuestion& question) {
    const auto from_ns = query::selected_bound(question.body, "from_ns"),
               to_ns = query::selected_bound(question.body, "to_ns");
    reports::ReportScope scope;
    if (question.body.find("selection") == nullptr) {
        return scope;
    }
    scope.events = "selected";
    TRY(question.trace.select(question.database, question.body, scope.events, question.cancelled));
    TRY(const query::TraceSpan span, question.trace.span(question.database));
    if (from_ns) {
        scope.from_ns = span.begin_ns + *from_ns - span.ahead_max_ns;
    }
    if (to_ns) {
        scope.to_ns = span.begin_ns + *to_ns - span.ahead_min_ns;
    }
    return scope;
}

Result<api::Answer> report_answer(const PageQuestion& question) {
    const Json* const only = question.body.find("findings_only");
    const bool is_short = only != nullptr && only->as<bool>().value_or(false);
    TRY(const reports::ReportScope scope, scope_of(question));
    TRY(const analysis::Report report,
        reports::read_report(
            question.database,
            is_short ? reports::ReportParts::kFindings : reports::ReportParts::kAll,
            &question.cancelled,
            scope));
    return api::Answer{.body = reports::report_json(report)};
}

}  // namespace

std::vector<api::Question> page_questions(api::DatabasePool& pool,
                                          query::SelectedEvents& trace,
                                          const std::string& clock,
                                          const std::string& prefix) {
    constexpr std::pair<const char*, PageAnswer> kQuestions[] = {
        {"trace", &trace_answer},
        {"names", &names_answer},
        {"filter", &filter_answer},
        {"query", &query_answer},
        {"rows", &rows_answer},
        {"examples", &examples_answer},
        {"save", &save_answer},
        {"export", &event_file_answer},
        {"report", &report_answer},
        {"follow", &follow_answer},
    };
    std::vector<api::Question> questions;
    for (const auto& [name, make] : kQuestions) {
        questions.push_back(on_pool(pool, trace, clock, prefix + name, make));
    }
    return questions;
}

}  // namespace dyetrace::api
