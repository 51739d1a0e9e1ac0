// SQL without a trace: a statement as a tree, and its answer from rows that are at hand.
//
//   TRY(StatementEngine engine, StatementEngine::open());
//   TRY(engine.define("CREATE TABLE events (name VARCHAR, bytes BIGINT)"));
//   TRY(const base::Json tree, engine.tree_of("SELECT name, sum(bytes) FROM events GROUP BY 1"));
//   TRY(engine.fill("events", rows));
//   TRY(engine.ask(text, [](Rows& rows) { … }));
//
// The tree is DuckDB's own (json_serialize_sql): nothing here takes SQL apart by its text. Limits: one thread; in memory only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "store/rows.h"

namespace dyetrace::store {

using Field = std::variant<std::monostate, __int128, std::string>;

class StatementEngine {
  public:
    static Result<StatementEngine> open();
    StatementEngine(StatementEngine&&) noexcept;
    StatementEngine& operator=(StatementEngine&&) noexcept;
    ~StatementEngine();

    // Statements of this program; their rows are dropped.
    Result<void> define(const std::string& sql);

    // Takes one SELECT statement apart. kInvalidArgument: it is none, in DuckDB's words.
    Result<base::Json> tree_of(const std::string& select);
    Result<std::string> text_of(const base::Json& tree);

    // A statement's columns with their types, which says whether it fits the tables; kInvalidArgument: it does not.
    struct Column {
        std::string name, type;
    };
    Result<std::vector<Column>> columns_of(const std::string& select);

    // Adds rows to a table: a field per column, numbers to columns of numbers.
    Result<void> fill(const std::string& table, const std::vector<std::vector<Field>>& rows);

    // One statement that reads.
    Result<void> ask(const std::string& select, const std::function<Result<void>(Rows&)>& each);

  private:
    struct Parts;
    explicit StatementEngine(std::unique_ptr<Parts> parts);
    Result<std::string> first_text(const std::string& select);

    std::unique_ptr<Parts> parts_;
};

}  // namespace dyetrace::store
