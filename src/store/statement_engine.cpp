#include "store/statement_engine.h"

#include <fmt/format.h>

#include <utility>

#include "schema/sql.h"
#include "store/duckdb_engine.h"
#include "store/rows_state.h"

namespace dyetrace::store {
namespace {

using OwnedAppender =
    std::unique_ptr<_duckdb_appender,
                    decltype([](duckdb_appender a) { duckdb_appender_destroy(&a); })>;

duckdb_state append(duckdb_appender appender, const Field& field) {
    if (const auto* number = std::get_if<__int128>(&field)) {
        return duckdb_append_hugeint(appender,
                                     {.lower = static_cast<std::uint64_t>(*number),
                                      .upper = static_cast<std::int64_t>(*number >> 64)});
    }
    if (const auto* text = std::get_if<std::string>(&field)) {
        return duckdb_append_varchar_length(appender, text->data(), text->size());
    }
    return duckdb_append_null(appender);
}

Error as_asked(const Error& error) {
    return {ErrorCode::kInvalidArgument, error.message()};
}

}  // namespace

struct StatementEngine::Parts {
    Engine engine;
};

StatementEngine::StatementEngine(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
StatementEngine::StatementEngine(StatementEngine&&) noexcept = default;
StatementEngine& StatementEngine::operator=(StatementEngine&&) noexcept = default;
StatementEngine::~StatementEngine() = default;

Result<StatementEngine> StatementEngine::open() {
    EngineOptions options;
    options.threads = 1;
    TRY(Engine engine, Engine::open(options));
    TRY(engine.run("SET enable_external_access = false"));
    TRY(engine.run(schema::functions_sql()));
    return StatementEngine(std::make_unique<Parts>(Parts{std::move(engine)}));
}

Result<void> StatementEngine::define(const std::string& sql) {
    return parts_->engine.run(sql);
}

Result<void> StatementEngine::ask(const std::string& select,
                                  const std::function<Result<void>(Rows&)>& each) {
    auto state = std::make_unique<Rows::State>();
    if (duckdb_query(parts_->engine.connection(), select.c_str(), state->result.out()) !=
        DuckDBSuccess) {
        return engine_error(duckdb_result_error(state->result.out()));
    }
    Rows rows(std::move(state));
    return each(rows);
}

Result<std::string> StatementEngine::first_text(const std::string& select) {
    std::string text;
    TRY(ask(select, [&](Rows& rows) -> Result<void> {
        TRY(const std::span<const Cell> row, rows.next());
        text = row.empty() ? "" : std::string(row[0].text);
        return {};
    }));
    return text;
}

Result<base::Json> StatementEngine::tree_of(const std::string& select) {
    TRY(const std::string text,
        first_text(fmt::format("SELECT json_serialize_sql({})", sql_text(select))));
    TRY(base::Json tree, base::Json::parse(text));
    if (tree.get<bool>("error").value_or(true)) {
        return Error(
            ErrorCode::kInvalidArgument,
            tree.get<std::string>("error_message").value_or("this is no SELECT statement"));
    }
    return tree;
}

Result<std::string> StatementEngine::text_of(const base::Json& tree) {
    return first_text(fmt::format("SELECT json_deserialize_sql({})", sql_text(tree.text())));
}

Result<std::vector<StatementEngine::Column>> StatementEngine::columns_of(
    const std::string& select) {
    std::vector<Column> columns;
    const Result<void> asked = ask("DESCRIBE " + select, [&](Rows& rows) -> Result<void> {
        for (;;) {
            TRY(const std::span<const Cell> row, rows.next());
            if (row.empty()) {
                return {};
            }
            columns.push_back({std::string(row[0].text), std::string(row[1].text)});
        }
    });
    if (!asked.ok()) {
        return as_asked(asked.error());
    }
    return columns;
}

Result<void> StatementEngine::fill(const std::string& table,
                                   const std::vector<std::vector<Field>>& rows) {
    duckdb_appender made = nullptr;
    const duckdb_state created =
        duckdb_appender_create(parts_->engine.connection(), nullptr, table.c_str(), &made);
    const OwnedAppender appender(made);
    duckdb_state state = created;
    for (std::size_t i = 0; i < rows.size() && state == DuckDBSuccess; ++i) {
        for (const Field& field : rows[i]) {
            state = state == DuckDBSuccess ? append(made, field) : state;
        }
        state = state == DuckDBSuccess ? duckdb_appender_end_row(made) : state;
    }
    state = state == DuckDBSuccess ? duckdb_appender_flush(made) : state;
    return state == DuckDBSuccess ? Result<void>() : engine_error(duckdb_appender_error(made));
}

}  // namespace dyetrace::store
