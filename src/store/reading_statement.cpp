#include "store/reading_statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <span>

#include "base/text.h"
#include "store/rows_state.h"

namespace dyetrace::store {
namespace {

Error does_more() {
    return Error(ErrorCode::kUnsupported,
                 "only statements that read are answered: SELECT, WITH, FROM, VALUES, DESCRIBE, "
                 "SHOW, SUMMARIZE, EXPLAIN (PIVOT with the values after IN)");
}

Error one_at_a_time() {
    return Error(ErrorCode::kUnsupported,
                 "EXPLAIN, query() and exports are answered one at a time");
}

std::string_view without_spaces(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n\f\v");
    return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

// Takes spaces and comments off the front.
std::string_view at_next_word(std::string_view text) {
    while (true) {
        text = without_spaces(text);
        if (text.starts_with("--")) {
            text.remove_prefix(std::min(text.size(), text.find('\n')));
        } else if (text.starts_with("/*") && text.find("*/") != std::string_view::npos &&
                   text.substr(2, text.find("*/") - 2).find("/*") == std::string_view::npos) {
            text.remove_prefix(text.find("*/") + 2);
        } else {
            return text;
        }
    }
}

bool take_word(std::string_view& text, std::string_view word) {
    if (base::lower(text.substr(0, word.size())) != word ||
        (text.size() > word.size() &&
         (std::isalnum(static_cast<unsigned char>(text[word.size()])) != 0 ||
          text[word.size()] == '_'))) {
        return false;
    }
    text = at_next_word(text.substr(word.size()));
    return true;
}

// "(FORMAT json, ANALYZE)": words and commas alone, so that nothing can hide in it.
void take_options(std::string_view& text) {
    const std::size_t end = text.find(')');
    if (!text.starts_with('(') || end == std::string_view::npos) {
        return;
    }
    const bool are_words = std::ranges::all_of(text.substr(1, end - 1), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == ',' || std::isspace(c) != 0;
    });
    const std::string_view first = at_next_word(text.substr(1));
    if (are_words &&
        (base::lower(first).starts_with("format") || base::lower(first).starts_with("analyze"))) {
        text = at_next_word(text.substr(end + 1));
    }
}

// What EXPLAIN explains. If it were cut in a wrong place it would be no statement, or none that reads.
std::string explained(std::string_view sql) {
    std::string_view text = at_next_word(sql);
    take_word(text, "explain");
    take_word(text, "analyze");
    take_options(text);
    return std::string(text);
}

bool has_any_of(const std::string& text, std::span<const std::string_view> words) {
    const std::string lower = base::lower(text);
    return std::ranges::any_of(
        words, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

// Functions that start, stop and empty DuckDB's log, and one that runs a statement in a connection of its own, where nobody looks at
// it and nothing ends it.
constexpr std::string_view kNotReading[] = {
    "enable_logging", "disable_logging", "truncate_duckdb_logs", "json_execute_serialized_sql"};

// query('SELECT …') takes an expression: what it calls need not be spelled in the statement.
bool may_do_more(const std::string& sql) {
    constexpr std::string_view kQuery[] = {"query"};
    return has_any_of(sql, kQuery) || has_any_of(sql, kNotReading);
}

// Whether its plan has a function that does more than read.
Result<void> check_plan(const Engine& engine, const std::string& sql) {
    const std::string explain = "EXPLAIN (FORMAT json) " + sql;
    OwnedResult result;
    if (duckdb_query(engine.connection(), explain.c_str(), result.out()) != DuckDBSuccess) {
        return engine_error(duckdb_result_error(result.out()));
    }
    auto state = std::make_unique<Rows::State>();
    state->result = std::move(result);
    Rows rows(std::move(state));
    for (;;) {
        TRY(const std::span<const Cell> row, rows.next());
        if (row.empty()) {
            return {};
        }
        if (std::ranges::any_of(row, [](const Cell& cell) {
                return has_any_of(std::string(cell.text), kNotReading);
            })) {
            return does_more();
        }
    }
}

}  // namespace

Result<void> check_words(const std::string& sql, idx_t count) {
    if (base::lower(sql).find("export") == std::string::npos) {
        return {};
    }
    if (count > 1) {
        return one_at_a_time();
    }
    std::string_view text = at_next_word(sql);
    const std::string inner = explained(text);
    text = inner;
    constexpr std::string_view kWords[] = {"select",
                                           "with",
                                           "from",
                                           "values",
                                           "table",
                                           "describe",
                                           "show",
                                           "summarize",
                                           "pivot",
                                           "unpivot"};
    const bool is_known = text.starts_with('(') || std::ranges::any_of(kWords, [&](auto word) {
                              std::string_view rest = text;
                              return take_word(rest, word);
                          });
    return is_known ? Result<void>() : does_more();
}

Result<void> check_only_reads(const Engine& engine,
                              const OwnedStatement& statement,
                              const std::string& sql,
                              idx_t count) {
    const duckdb_statement_type type = duckdb_prepared_statement_type(statement.get());
    if (type != DUCKDB_STATEMENT_TYPE_SELECT && type != DUCKDB_STATEMENT_TYPE_EXPLAIN) {
        return does_more();
    }
    const bool is_explained = type == DUCKDB_STATEMENT_TYPE_EXPLAIN;
    if (!is_explained && !may_do_more(sql)) {
        return {};
    }
    if (count > 1) {
        return one_at_a_time();
    }
    return is_explained ? check_one_select(engine, explained(sql)) : check_plan(engine, sql);
}

Result<void> check_one_select(const Engine& engine, const std::string& sql) {
    TRY(check_words(sql, 1));
    OwnedStatements statements;
    OwnedStatement statement;
    if (duckdb_extract_statements(engine.connection(), sql.c_str(), statements.out()) != 1) {
        const char* const message = duckdb_extract_statements_error(statements.get());
        return message != nullptr ? engine_error(message) : does_more();
    }
    if (duckdb_prepare_extracted_statement(
            engine.connection(), statements.get(), 0, statement.out()) != DuckDBSuccess) {
        return engine_error(duckdb_prepare_error(statement.get()));
    }
    if (duckdb_prepared_statement_type(statement.get()) != DUCKDB_STATEMENT_TYPE_SELECT) {
        return does_more();
    }
    return may_do_more(sql) ? check_plan(engine, sql) : Result<void>();
}

}  // namespace dyetrace::store
