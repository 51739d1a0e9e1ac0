#include "query/selected_events.h"

#include <algorithm>

#include "filter/predicate.h"
#include "query/asked_rows.h"
#include "query/named_sql.h"
#include "query/sql.h"

namespace dyetrace::query {
namespace {

constexpr std::string_view kMacro = "CREATE OR REPLACE TEMP MACRO ";

using Files = std::vector<const sql::NamedText*>;

// Whether a text makes the function on `selected` that has the name of its file.
bool is_function(const sql::NamedText& file) {
    return file.second.starts_with(kMacro) &&
           file.second.substr(kMacro.size()).starts_with(std::string(file.first) + "(");
}

// The functions on `selected` that a text calls, each after those that it calls itself.
void add_functions(std::string_view text, Files& met, Files& found) {
    for (const sql::NamedText& file : sql::kAll) {
        if (is_function(file) && std::ranges::find(met, &file) == met.end() &&
            text.find(std::string(file.first) + "(") != std::string_view::npos) {
            met.push_back(&file);
            add_functions(file.second, met, found);
            found.push_back(&file);
        }
    }
}

Files functions_in(std::string_view statement) {
    Files met, found;
    add_functions(statement, met, found);
    return found;
}

// A star that counts, count(*), says nothing of columns.
bool says_arguments(std::string_view statement) {
    if (statement.find("arguments") != std::string_view::npos) {
        return true;
    }
    std::size_t at = statement.find('*');
    while (at != std::string_view::npos && at > 0 && statement[at - 1] == '(') {
        at = statement.find('*', at + 1);
    }
    return at != std::string_view::npos;
}

Result<void> run(store::Database& database,
                 const std::string& sql,
                 const std::atomic<bool>& cancelled) {
    return database.query(
        sql, [](store::Rows&) -> Result<void> { return {}; }, &cancelled);
}

// What the selection says, as a condition on `selected`.
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
        condition = filled(sql::kSelectedFrom,
                           {{"condition", SqlPiece{condition}},
                            {"from_ns", *from_ns},
                            {"start_ns", span.begin_ns + *from_ns - span.ahead_max_ns}});
    }
    if (const auto to_ns = selected_bound(question, "to_ns")) {
        condition = filled(sql::kSelectedTo,
                           {{"condition", SqlPiece{condition}},
                            {"to_ns", *to_ns},
                            {"start_ns", span.begin_ns + *to_ns - span.ahead_min_ns}});
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

Result<TraceSpan> SelectedEvents::span_of(store::Database& database) {
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
    TRY(each_row(database, std::string(sql::kTraceSpan), [&](Row row) {
        span = {.begin_ns = signed_number_of(row[1]),
                .end_ns = signed_number_of(row[2]),
                .events = number_of(row[0]),
                .ahead_min_ns = signed_number_of(row[3]),
                .ahead_max_ns = signed_number_of(row[4])};
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

Result<SelectedEvents::Known*> SelectedEvents::known_of(store::Database& database) {
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

Result<TraceSpan> SelectedEvents::span(store::Database& database) {
    TRY(const Known* const known, known_of(database));
    return known->span;
}

Result<std::int64_t> SelectedEvents::begin_ns(store::Database& database) {
    {
        const std::lock_guard lock(mutex_);
        if (begin_ns_) {
            return *begin_ns_;
        }
    }
    TRY(const TraceSpan known, span(database));
    return known.begin_ns;
}

bool SelectedEvents::has_ended() {
    const std::lock_guard lock(mutex_);
    return finished_.has_value();
}

void SelectedEvents::forget(const store::Database& database) {
    const std::lock_guard lock(mutex_);
    known_.erase(&database);
}

Result<void> SelectedEvents::keep(store::Database& database,
                                  Known& known,
                                  const std::atomic<bool>& cancelled) {
    known.is_kept =
        keeps_ && known.span.events <=
                      (database.state() == trace::TraceState::kRecording ? kKeptLiveMax : kKeptMax);
    std::string statements = std::string(sql::kSelectedProcesses) +
                             filled(sql::kSelectedLabels, {{"begin_ns", known.span.begin_ns}});
    statements += known.is_kept ? sql::kSelectedKept : std::string_view();
    TRY(run(database, statements, cancelled));
    known.has_views = true;
    return {};
}

Result<void> SelectedEvents::select(store::Database& database,
                                    const base::Json& question,
                                    const std::string& statement,
                                    const std::atomic<bool>& cancelled) {
    const Files functions = functions_in(statement);
    if (functions.empty() && statement.find("selected") == std::string::npos) {
        return {};
    }
    TRY(Known* const known, known_of(database));
    TRY(const std::string condition, condition_of(question, known->span));
    if (!known->has_views) {
        TRY(keep(database, *known, cancelled));
    }
    const bool reads_kept =
        known->is_kept && !says_arguments(statement) && !says_arguments(condition);
    std::string selected = filled(sql::kSelectedView,
                                  {{"events", SqlPiece{reads_kept ? "_page_kept" : "_page_events"}},
                                   {"condition", SqlPiece{condition}}});
    if (known->selected != selected) {
        TRY(run(database, selected, cancelled));
        known->selected = std::move(selected);
    }
    for (const sql::NamedText* const function : functions) {
        if (known->functions.insert(function->first).second) {
            TRY(run(database, std::string(function->second), cancelled));
        }
    }
    return {};
}

}  // namespace dyetrace::query
