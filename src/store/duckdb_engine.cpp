#include "store/duckdb_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

// DuckDB's allocator asks for this variable, and takes what it says over all else: addresses of memory that is free go back, too. Else they are kept, count on (RLIMIT_DATA), and after
// one answer that took all that the process may have, no other gets any.
extern "C" {
[[gnu::visibility("default"), gnu::used]] const char* duckdb_je_malloc_conf_2_conf_harder =
    "retain:false";
}

namespace dyetrace::store {
namespace {

Result<void> set(duckdb_config config, const char* name, const std::string& value) {
    if (duckdb_set_config(config, name, value.c_str()) != DuckDBSuccess) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("DuckDB refuses {} = '{}'", name, value));
    }
    return {};
}

// Empty: DuckDB's own. To it a number below zero is no limit at all.
Result<void> set_limit(duckdb_config config, const char* name, const std::string& size) {
    if (size.empty()) {
        return {};
    }
    const bool is_size = std::isdigit(static_cast<unsigned char>(size.front())) != 0;
    if (!is_size || !set(config, name, size).ok()) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("'{}' is no size: write 512MB or 2GB", size));
    }
    return {};
}

// Reads "18.6 GiB", which is 80 % of the machine's memory.
std::uint64_t quarter_of_machine(const char* text) {
    double amount = 0;
    char unit = 0;
    if (text == nullptr || std::sscanf(text, "%lf %c", &amount, &unit) != 2) {
        return kMemoryMax;
    }
    const std::string_view units = "KMGT";
    const std::size_t place = units.find(unit);
    return static_cast<std::uint64_t>(std::ldexp(
        amount * 5 / 16, place == std::string_view::npos ? 0 : 10 * (static_cast<int>(place) + 1)));
}

}  // namespace

std::string text_argument(duckdb_bind_info bind) {
    const OwnedValue value(duckdb_bind_get_parameter(bind, 0));
    if (duckdb_is_null_value(value.get())) {
        return {};
    }
    const std::unique_ptr<char, void (*)(void*)> text(duckdb_get_varchar(value.get()),
                                                      &duckdb_free);
    return text == nullptr ? "" : text.get();
}

Error engine_error(const char* message) {
    std::string_view text = message == nullptr ? "DuckDB failed without a word" : message;
    std::string line;
    for (const char c : text.substr(0, text.find("\n\n"))) {
        line.push_back(c == '\n' ? ' ' : c);
    }
    const bool is_too_much = line.starts_with("Out of Memory Error");
    return Error(is_too_much ? ErrorCode::kOutOfMemory : ErrorCode::kInvalidArgument,
                 std::move(line));
}

std::string sql_text(std::string_view text) {
    std::string quoted = "'";
    for (const char c : text) {
        quoted.append(c == '\'' ? 2 : 1, c);
    }
    return quoted + "'";
}

std::string file_literal(const std::string& path) {
    std::error_code error;
    const std::filesystem::path real =
        std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
    return sql_text(error ? path : real.string());
}

Result<Engine> Engine::open(const EngineOptions& options) {
    OwnedConfig config;
    if (duckdb_create_config(config.out()) != DuckDBSuccess) {
        return Error(ErrorCode::kOutOfMemory, "no memory for DuckDB");
    }
    TRY(set(config.get(), "autoinstall_known_extensions", "false"));
    TRY(set(config.get(), "autoload_known_extensions", "false"));
    TRY(set(config.get(), "allow_community_extensions", "false"));
    // no folder: those that this user installed for DuckDB are neither found nor updated
    TRY(set(config.get(), "extension_directory", "/dev/null/none"));
    TRY(set(config.get(), "temp_directory", options.temporary_folder));
    // What was read of files stays in memory once, the kernel's, which is free when others need it.
    TRY(set(config.get(), "enable_external_file_cache", "false"));
    if (options.threads > 0) {
        TRY(set(config.get(), "threads", std::to_string(options.threads)));
    }
    TRY(set_limit(config.get(), "memory_limit", options.memory_limit));
    TRY(set_limit(config.get(), "max_temp_directory_size", options.temporary_limit));
    Engine engine;
    char* message = nullptr;
    if (duckdb_open_ext(nullptr, engine.database_.out(), config.get(), &message) != DuckDBSuccess) {
        Error error = engine_error(message);
        duckdb_free(message);
        return std::move(error).with_context("cannot start DuckDB");
    }
    TRY(engine.connection_, engine.connect());
    if (options.memory_limit.empty()) {
        TRY(engine.limit_memory());
    }
    TRY(engine.run("CREATE SCHEMA internal"));  // what users need not see, out of their SHOW TABLES
    return engine;
}

// DuckDB takes 80 % of the machine, or of its control group, which it says as "18.6 GiB".
Result<void> Engine::limit_memory() const {
    OwnedResult result;
    std::uint64_t quarter = kMemoryMax;
    if (duckdb_query(connection_.get(), "SELECT current_setting('memory_limit')", result.out()) ==
        DuckDBSuccess) {
        char* const text = duckdb_value_varchar(result.out(), 0, 0);
        quarter = quarter_of_machine(text);
        duckdb_free(text);
    }
    return run(fmt::format("SET memory_limit = '{}B'", std::min(kMemoryMax, quarter)));
}

Result<void> run_on(duckdb_connection connection, const std::string& sql) {
    OwnedResult result;
    if (duckdb_query(connection, sql.c_str(), result.out()) != DuckDBSuccess) {
        return engine_error(duckdb_result_error(result.out()));
    }
    return {};
}

Result<void> Engine::run(const std::string& sql) const {
    return run_on(connection_.get(), sql);
}

Result<std::uint64_t> Engine::run_counted(const std::string& sql) const {
    OwnedResult result;
    if (duckdb_query(connection_.get(), sql.c_str(), result.out()) != DuckDBSuccess) {
        return engine_error(duckdb_result_error(result.out()));
    }
    return duckdb_rows_changed(result.out());
}

Result<std::uint64_t> Engine::first_number(const std::string& sql) const {
    OwnedResult result;
    if (duckdb_query(connection_.get(), sql.c_str(), result.out()) != DuckDBSuccess) {
        return engine_error(duckdb_result_error(result.out()));
    }
    return duckdb_value_uint64(result.out(), 0, 0);
}

Result<OwnedConnection> Engine::connect() const {
    OwnedConnection connection;
    if (duckdb_connect(database_.get(), connection.out()) != DuckDBSuccess) {
        return Error(ErrorCode::kIo, "cannot connect to DuckDB");
    }
    return connection;
}

}  // namespace dyetrace::store
