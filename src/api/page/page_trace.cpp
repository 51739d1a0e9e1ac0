#include "api/page/page_trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "filter/predicate.h"
#include "query/asked_rows.h"

namespace dyetrace::api {
namespace {

constexpr const char* kSpan =
    "WITH seen AS (SELECT time, duration_ns, epoch_ns(time) - start_ns::BIGINT AS ahead_ns, "
    "parent_event_id IS NULL AS is_whole FROM events) "
    "SELECT count(*) FILTER (is_whole), epoch_ns(min(time) FILTER (is_whole)), max(epoch_ns(time) "
    "+ coalesce(duration_ns, 0)::BIGINT) FILTER (is_whole), min(ahead_ns), max(ahead_ns) FROM seen";

constexpr const char* kProcesses =
    "CREATE OR REPLACE TEMP TABLE _page_processes AS "
    "SELECT process_id, _process_words(host, exe, comm, pid) AS process FROM processes";

// What a process was called at its end stands for all of its life; one that no fact names is called as its event does.
constexpr const char* kWorded =
    "CREATE OR REPLACE TEMP VIEW _page_events AS SELECT e.*, epoch_ns(e.time) - {begin} AS at_ns, "
    "coalesce(p.process, _process_words(e.host, "
    "e.exe, e.comm, e.pid), '?') AS process, _verb(e.name, e.transfer) AS verb, "
    "_target_words(e.name, e.object_type, e.path, e.local_port, e.remote_address, e.remote_port) "
    "AS target FROM events e LEFT JOIN _page_processes p ON p.process_id = e.process_id";

constexpr const char* kKeep =
    "; CREATE OR REPLACE TEMP TABLE _page_kept AS SELECT * EXCLUDE (arguments) FROM _page_events";

// A star that counts, count(*), says nothing of columns.
bool says_arguments(std::string_view sql) {
    if (sql.find("arguments") != std::string_view::npos) {
        return true;
    }
    std::size_t at = sql.find('*');
    while (at != std::string_view::npos && at > 0 && sql[at - 1] == '(') {
        at = sql.find('*', at + 1);
    }
    return at != std::string_view::npos;
}

Result<void> run(store::Database& database,
                 const std::string& sql,
                 const std::atomic<bool>& cancelled) {
    return database.query(
        sql, [](store::Rows&) -> Result<void> { return {}; }, &cancelled);
}

// What the selection says, as a condition on `selected`. Bounds of the time are told a second time as those of start_ns, which is on disk: what lies outside of them
// is left out before anything is looked up for it.
Result<std::string> condition_of(const base::Json& question, const TraceSpan& span) {
    std::string condition = "true";
    const base::Json* const selection = question.find("selection");
    if (selection == nullptr) {
        return condition;
    }
    if (const base::Json* where = selection->find("where"); where != nullptr) {
        const std::string text = where->as<std::string>().value_or("");
        if (!text.empty()) {
            TRY(const filter::Predicate predicate, filter::Predicate::parse(text));
            condition = predicate.to_sql();
        }
    }
    if (const auto from_ns = selected_bound(question, "from_ns")) {
        condition = fmt::format(
            "({}) AND at_ns + coalesce(duration_ns, 0)::BIGINT >= {} AND "
            "start_ns::BIGINT + coalesce(duration_ns, 0)::BIGINT >= {}",
            condition,
            *from_ns,
            span.begin_ns + *from_ns - span.ahead_max_ns);
    }
    if (const auto to_ns = selected_bound(question, "to_ns")) {
        condition = fmt::format("({}) AND at_ns <= {} AND start_ns::BIGINT <= {}",
                                condition,
                                *to_ns,
                                span.begin_ns + *to_ns - span.ahead_min_ns);
    }
    return condition;
}

}  // namespace

std::optional<std::int64_t> selected_bound(const base::Json& question, std::string_view name) {
    const base::Json* const selection = question.find("selection");
    const base::Json* const value = selection == nullptr ? nullptr : selection->find(name);
    const auto bound = value == nullptr ? std::nullopt : value->as<std::int64_t>();
    constexpr std::int64_t kMost = std::int64_t{1} << 60;  // 36 years: sums of times fit
    return bound ? std::optional(std::clamp(*bound, -kMost, kMost)) : std::nullopt;
}

Result<TraceSpan> PageTrace::span_of(store::Database& database) {
    const bool is_finished = database.state() != trace::TraceState::kRecording;
    std::optional<std::int64_t> begin_ns;
    {
        const std::lock_guard lock(mutex_);
        if (is_finished && finished_) {
            return *finished_;
        }
        begin_ns = begin_ns_;
    }
    TraceSpan span;
    TRY(query::each_row(database, kSpan, [&](query::Row row) {
        span = {.begin_ns = query::signed_number_of(row[1]),
                .end_ns = query::signed_number_of(row[2]),
                .events = query::number_of(row[0]),
                .ahead_min_ns = query::signed_number_of(row[3]),
                .ahead_max_ns = query::signed_number_of(row[4])};
    }));
    span.begin_ns = begin_ns.value_or(span.begin_ns);
    const std::lock_guard lock(mutex_);
    if (span.events > 0) {
        begin_ns_ = span.begin_ns;
    }
    if (is_finished) {
        finished_ = span;
    }
    return span;
}

Result<PageTrace::Known*> PageTrace::known_of(store::Database& database) {
    Known* known = nullptr;
    {
        const std::lock_guard lock(mutex_);
        known = &known_[&database];
    }
    if (known->looks != database.looks() || known->looks == 0) {
        TRY(const TraceSpan span, span_of(database));
        *known = {.looks = database.looks(), .span = span};
    }
    return known;
}

Result<TraceSpan> PageTrace::span(store::Database& database) {
    TRY(const Known* const known, known_of(database));
    return known->span;
}

Result<std::int64_t> PageTrace::begin_ns(store::Database& database) {
    {
        const std::lock_guard lock(mutex_);
        if (begin_ns_) {
            return *begin_ns_;
        }
    }
    TRY(const TraceSpan known, span(database));
    return known.begin_ns;
}

bool PageTrace::has_ended() {
    const std::lock_guard lock(mutex_);
    return finished_.has_value();
}

Result<void> PageTrace::keep(store::Database& database,
                             Known& known,
                             const std::atomic<bool>& cancelled) {
    TRY(run(database, kProcesses, cancelled));
    known.is_kept = known.span.events <=
                    (database.state() == trace::TraceState::kRecording ? kKeptLiveMax : kKeptMax);
    TRY(run(
        database,
        fmt::format(kWorded, fmt::arg("begin", known.span.begin_ns)) + (known.is_kept ? kKeep : ""),
        cancelled));
    known.has_views = true;
    return {};
}

Result<void> PageTrace::select(store::Database& database,
                               const base::Json& question,
                               const std::string& sql,
                               const std::atomic<bool>& cancelled) {
    if (sql.find("selected") == std::string::npos) {
        return {};
    }
    TRY(Known* const known, known_of(database));
    TRY(const std::string condition, condition_of(question, known->span));
    if (!known->has_views) {
        TRY(keep(database, *known, cancelled));
    }
    const bool reads_kept = known->is_kept && !says_arguments(sql) && !says_arguments(condition);
    std::string selected =
        fmt::format("CREATE OR REPLACE TEMP VIEW selected AS SELECT * FROM _page_{} WHERE {}",
                    reads_kept ? "kept" : "events",
                    condition);
    if (known->selected != selected) {
        TRY(run(database, selected, cancelled));
        known->selected = std::move(selected);
    }
    return {};
}

}  // namespace dyetrace::api
