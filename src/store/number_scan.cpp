#include "store/number_scan.h"

#include <fmt/format.h>

#include <utility>

#include "store/number_scan_state.h"

namespace dyetrace::store {
namespace {

std::optional<NumberType> number_type_of(duckdb_type type) {
    switch (type) {
        case DUCKDB_TYPE_UBIGINT:
            return NumberType::kUnsigned;
        case DUCKDB_TYPE_BIGINT:
            return NumberType::kSigned;
        case DUCKDB_TYPE_DOUBLE:
            return NumberType::kDouble;
        default:
            return std::nullopt;
    }
}

}  // namespace

NumberScan::NumberScan(std::unique_ptr<State> state) : state_(std::move(state)) {}
NumberScan::NumberScan(NumberScan&&) noexcept = default;
NumberScan& NumberScan::operator=(NumberScan&&) noexcept = default;
NumberScan::~NumberScan() = default;

Result<std::unique_ptr<NumberScan::State>> start_number_scan(const Engine& engine,
                                                             const std::string& sql,
                                                             const std::string& views) {
    auto state = std::make_unique<NumberScan::State>();
    TRY(state->connection, engine.connect());
    // A transaction that nobody commits: it ends with the connection, and no other one sees what it changed.
    if (!views.empty()) {
        const std::string begin = "BEGIN TRANSACTION;\n" + views;
        OwnedResult begun;
        if (duckdb_query(state->connection.get(), begin.c_str(), begun.out()) != DuckDBSuccess) {
            return engine_error(duckdb_result_error(begun.out()));
        }
    }
    OwnedStatement statement;
    if (duckdb_prepare(state->connection.get(), sql.c_str(), statement.out()) != DuckDBSuccess) {
        return engine_error(duckdb_prepare_error(statement.get()));
    }
    OwnedPending pending;
    if (duckdb_pending_prepared_streaming(statement.get(), pending.out()) != DuckDBSuccess ||
        duckdb_execute_pending(pending.get(), state->result.out()) != DuckDBSuccess) {
        const char* const message = duckdb_pending_error(pending.get());
        return engine_error(message != nullptr ? message
                                               : duckdb_result_error(state->result.out()));
    }
    const idx_t columns = duckdb_column_count(state->result.out());
    for (idx_t i = 0; i < columns; ++i) {
        const auto type = number_type_of(duckdb_column_type(state->result.out(), i));
        if (!type) {
            return Error(ErrorCode::kInvalidArgument,
                         fmt::format("column {} of a scan of numbers is no UBIGINT, BIGINT or "
                                     "DOUBLE",
                                     duckdb_column_name(state->result.out(), i)));
        }
        state->types.push_back(*type);
    }
    state->batch.columns.resize(columns);
    return state;
}

Result<const NumberBatch*> NumberScan::next() {
    NumberBatch& batch = state_->batch;
    state_->chunk = OwnedChunk(duckdb_fetch_chunk(*state_->result.out()));
    if (state_->chunk.get() == nullptr) {
        const char* const message = duckdb_result_error(state_->result.out());
        if (message != nullptr && *message != '\0') {
            return engine_error(message);
        }
        batch.rows = 0;
        return &std::as_const(batch);
    }
    batch.rows = duckdb_data_chunk_get_size(state_->chunk.get());
    for (std::size_t i = 0; i < batch.columns.size(); ++i) {
        const duckdb_vector vector = duckdb_data_chunk_get_vector(state_->chunk.get(), i);
        batch.columns[i] = NumberColumn(
            state_->types[i], duckdb_vector_get_data(vector), duckdb_vector_get_validity(vector));
    }
    return &std::as_const(batch);
}

}  // namespace dyetrace::store
