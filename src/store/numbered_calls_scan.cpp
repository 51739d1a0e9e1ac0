#include "store/numbered_calls_scan.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "store/trace_frame.h"

namespace dyetrace::store {
namespace {

constexpr const char* kName = "_numbered_calls";

struct Column {
    const char* name;
    std::int32_t NumberedCall::*number;  // or
    std::string_view NumberedCall::*text;
    bool is_nullable;
};
constexpr std::array kColumns{
    Column{"abi", &NumberedCall::abi, nullptr, false},
    Column{"number", &NumberedCall::number, nullptr, false},
    Column{"name", nullptr, &NumberedCall::name, false},
    Column{"transfer", nullptr, &NumberedCall::transfer, true},
    Column{"message_flags_at", &NumberedCall::message_flags_at, nullptr, true},
    Column{"cuts", nullptr, &NumberedCall::cuts, true},
};

struct Scan {
    std::size_t next_row = 0;
    std::vector<idx_t> columns;
};

void bind_calls(duckdb_bind_info bind) {
    for (const Column& column : kColumns) {
        const OwnedLogicalType type(duckdb_create_logical_type(
            column.text != nullptr ? DUCKDB_TYPE_VARCHAR : DUCKDB_TYPE_INTEGER));
        duckdb_bind_add_result_column(bind, column.name, type.get());
    }
    duckdb_bind_set_cardinality(bind, numbered_calls().size(), true);
}

void init_calls(duckdb_init_info init) {
    auto scan = std::make_unique<Scan>();
    for (idx_t i = 0; i < duckdb_init_get_column_count(init); ++i) {
        scan->columns.push_back(duckdb_init_get_column_index(init, i));
    }
    duckdb_init_set_max_threads(init, 1);
    duckdb_init_set_init_data(init, scan.release(), [](void* state) {
        std::unique_ptr<Scan>(static_cast<Scan*>(state)).reset();
    });
}

void write_column(const Column& column, std::span<const NumberedCall> calls, duckdb_vector out) {
    duckdb_vector_ensure_validity_writable(out);
    std::uint64_t* const validity = duckdb_vector_get_validity(out);
    for (std::size_t row = 0; row < calls.size(); ++row) {
        const NumberedCall& call = calls[row];
        const bool is_empty =
            column.text != nullptr ? (call.*column.text).empty() : call.*column.number == 0;
        if (column.is_nullable && is_empty) {
            duckdb_validity_set_row_invalid(validity, row);
        } else if (column.text != nullptr) {
            const std::string_view text = call.*column.text;
            duckdb_vector_assign_string_element_len(out, row, text.data(), text.size());
        } else {
            static_cast<std::int32_t*>(duckdb_vector_get_data(out))[row] = call.*column.number;
        }
    }
}

void scan_calls(duckdb_function_info function, duckdb_data_chunk chunk) {
    auto& scan = *static_cast<Scan*>(duckdb_function_get_init_data(function));
    const auto rest = numbered_calls().subspan(scan.next_row);
    const auto calls = rest.first(std::min<std::size_t>(rest.size(), duckdb_vector_size()));
    for (std::size_t i = 0; i < scan.columns.size(); ++i) {
        // one that is no column: rows are counted only
        if (scan.columns[i] < kColumns.size()) {
            write_column(kColumns[scan.columns[i]], calls, duckdb_data_chunk_get_vector(chunk, i));
        }
    }
    duckdb_data_chunk_set_size(chunk, calls.size());
    scan.next_row += calls.size();
}

}  // namespace

Result<void> register_numbered_calls(const Engine& engine) {
    const OwnedTableFunction function(duckdb_create_table_function());
    duckdb_table_function_set_name(function.get(), kName);
    duckdb_table_function_set_bind(function.get(), &bind_calls);
    duckdb_table_function_set_init(function.get(), &init_calls);
    duckdb_table_function_set_function(function.get(), &scan_calls);
    duckdb_table_function_supports_projection_pushdown(function.get(), true);
    if (duckdb_register_table_function(engine.connection(), function.get()) != DuckDBSuccess) {
        return Error(ErrorCode::kIo, "DuckDB refuses the function _numbered_calls");
    }
    return {};
}

}  // namespace dyetrace::store
