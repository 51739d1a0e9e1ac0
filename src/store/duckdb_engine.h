// DuckDB wrapped in values that free themselves and failures that are Errors. For this folder's sources only.
#pragma once

#include <duckdb.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/result.h"

namespace dyetrace::store {

// Owns what the C API makes and destroys through a pointer to the handle.
template <typename Handle, void (*destroy)(Handle*)>
class Owned {
  public:
    Owned() = default;
    explicit Owned(Handle handle) : handle_(handle) {}
    Owned(Owned&& other) noexcept : handle_(other.handle_) { other.handle_ = Handle{}; }
    Owned& operator=(Owned&& other) noexcept {
        if (this != &other) {
            reset();
            handle_ = other.handle_;
            other.handle_ = Handle{};
        }
        return *this;
    }
    ~Owned() { reset(); }

    Handle get() const { return handle_; }
    Handle* out() { return &handle_; }

  private:
    void reset() {
        if constexpr (std::is_pointer_v<Handle>) {
            if (handle_ == nullptr) {
                return;
            }
        }
        destroy(&handle_);
        handle_ = Handle{};
    }

    Handle handle_{};
};

using OwnedDatabase = Owned<duckdb_database, duckdb_close>;
using OwnedConnection = Owned<duckdb_connection, duckdb_disconnect>;
using OwnedConfig = Owned<duckdb_config, duckdb_destroy_config>;
using OwnedLogicalType = Owned<duckdb_logical_type, duckdb_destroy_logical_type>;
using OwnedTableFunction = Owned<duckdb_table_function, duckdb_destroy_table_function>;
using OwnedValue = Owned<duckdb_value, duckdb_destroy_value>;
using OwnedStatement = Owned<duckdb_prepared_statement, duckdb_destroy_prepare>;
using OwnedStatements = Owned<duckdb_extracted_statements, duckdb_destroy_extracted>;
using OwnedPending = Owned<duckdb_pending_result, duckdb_destroy_pending>;
using OwnedChunk = Owned<duckdb_data_chunk, duckdb_destroy_data_chunk>;
using OwnedResult = Owned<duckdb_result, duckdb_destroy_result>;

// What a query holds of itself, if nobody says otherwise, before it writes to disk: whoever asks a busy server leaves its memory to it.
inline constexpr std::uint64_t kMemoryMax = std::uint64_t{3} << 30;

struct EngineOptions {
    int threads = 0;               // 0: as many as CPUs
    std::string memory_limit;      // "512MB"; empty: kMemoryMax, or a quarter of the machine
    std::string temporary_folder;  // where queries larger than memory go; empty: nowhere
    std::string temporary_limit;   // "8GB" of it; empty: DuckDB's own, 90 % of what is free
};

// A database in memory and one connection. Extensions are neither fetched nor loaded.
class Engine {
  public:
    static Result<Engine> open(const EngineOptions& options);

    duckdb_connection connection() const { return connection_.get(); }

    // Any number of statements; their rows are dropped.
    Result<void> run(const std::string& sql) const;

    // One statement; how many rows it wrote.
    Result<std::uint64_t> run_counted(const std::string& sql) const;

    // The number in the first row of a statement that has one.
    Result<std::uint64_t> first_number(const std::string& sql) const;

    // Another connection to the same database, for what runs while a statement runs. It must not outlive this.
    Result<OwnedConnection> connect() const;

  private:
    Result<void> limit_memory() const;

    OwnedDatabase database_;
    OwnedConnection connection_;
};

// Any number of statements; their rows are dropped.
Result<void> run_on(duckdb_connection connection, const std::string& sql);

// What a table function is given first; empty for NULL, which DuckDB's own reading of it takes for a bug.
std::string text_argument(duckdb_bind_info bind);

// The first line of what DuckDB says, without its "Parser Error: " decoration doubled or its hints of several lines.
Error engine_error(const char* message);

// 'it''s'
std::string sql_text(std::string_view text);

// The path of a file, which need not be there yet, as DuckDB compares it with those that it may open: from the root, without links.
std::string file_literal(const std::string& path);

}  // namespace dyetrace::store
