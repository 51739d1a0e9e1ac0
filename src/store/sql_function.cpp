#include "store/sql_function.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/text.h"

namespace dyetrace::store {
namespace {

std::optional<std::string_view> text_at(duckdb_vector vector, idx_t row) {
    std::uint64_t* const validity = duckdb_vector_get_validity(vector);
    if (validity != nullptr && !duckdb_validity_row_is_valid(validity, row)) {
        return std::nullopt;
    }
    auto* const strings = static_cast<duckdb_string_t*>(duckdb_vector_get_data(vector));
    return std::string_view(duckdb_string_t_data(&strings[row]),
                            duckdb_string_t_length(strings[row]));
}

void call(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
    const auto& function =
        *static_cast<const SqlFunction*>(duckdb_scalar_function_get_extra_info(info));
    std::vector<std::optional<std::string_view>> arguments(function.arguments);
    duckdb_vector_ensure_validity_writable(output);
    std::uint64_t* const validity = duckdb_vector_get_validity(output);
    for (idx_t row = 0; row < duckdb_data_chunk_get_size(input); ++row) {
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            arguments[i] = text_at(duckdb_data_chunk_get_vector(input, i), row);
        }
        const std::optional<std::string> value = function.call(arguments);
        duckdb_validity_set_row_validity(validity, row, value.has_value());
        if (value) {
            duckdb_vector_assign_string_element_len(output, row, value->data(), value->size());
        }
    }
}

}  // namespace

Result<void> register_sql_function(const Engine& engine, SqlFunction function) {
    const Owned<duckdb_scalar_function, duckdb_destroy_scalar_function> scalar(
        duckdb_create_scalar_function());
    const OwnedLogicalType text(duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR));
    duckdb_scalar_function_set_name(scalar.get(), function.name.c_str());
    for (std::size_t i = 0; i < function.arguments; ++i) {
        duckdb_scalar_function_add_parameter(scalar.get(), text.get());
    }
    duckdb_scalar_function_set_return_type(scalar.get(), text.get());
    duckdb_scalar_function_set_special_handling(scalar.get());
    duckdb_scalar_function_set_function(scalar.get(), &call);
    const std::string name = function.name;
    duckdb_scalar_function_set_extra_info(
        scalar.get(),
        std::make_unique<SqlFunction>(std::move(function)).release(),
        [](void* extra) {
            std::unique_ptr<SqlFunction>(static_cast<SqlFunction*>(extra)).reset();
        });
    if (duckdb_register_scalar_function(engine.connection(), scalar.get()) != DuckDBSuccess) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("DuckDB refuses the function {}", name));
    }
    return {};
}

}  // namespace dyetrace::store
