#include "store/sql_function.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/derived_tables.h"
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

void call_text(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
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

std::span<const std::uint64_t> numbers_in(duckdb_vector vector, idx_t rows) {
    auto* const values = static_cast<std::uint64_t*>(duckdb_vector_get_data(vector));
    std::uint64_t* const validity = duckdb_vector_get_validity(vector);
    for (idx_t row = 0; validity != nullptr && row < rows; ++row) {
        if (!duckdb_validity_row_is_valid(validity, row)) {
            values[row] = schema::kDerivedNull;
        }
    }
    return {values, rows};
}

void put_answers(std::span<const std::uint64_t> answers, bool is_condition, duckdb_vector output) {
    duckdb_vector_ensure_validity_writable(output);
    void* const values = duckdb_vector_get_data(output);
    std::uint64_t* const validity = duckdb_vector_get_validity(output);
    for (idx_t row = 0; row < answers.size(); ++row) {
        if (is_condition) {
            static_cast<bool*>(values)[row] = answers[row] == 1;
        } else {
            static_cast<std::uint64_t*>(values)[row] = answers[row];
        }
        duckdb_validity_set_row_validity(validity, row, answers[row] != schema::kDerivedNull);
    }
}

struct KnownNumberFunction {
    std::string name;
    std::size_t arguments;
    NumberFunction function;
    DerivedTables* made;

    static void bind(duckdb_bind_info info) {
        const auto& known = *static_cast<const KnownNumberFunction*>(
            duckdb_scalar_function_bind_get_extra_info(info));
        for (const std::string& table : known.function.needs) {
            known.made->want(table);
        }
    }

    static void call(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
        const NumberFunction& function =
            static_cast<const KnownNumberFunction*>(duckdb_scalar_function_get_extra_info(info))
                ->function;
        const idx_t rows = duckdb_data_chunk_get_size(input);
        std::vector<std::span<const std::uint64_t>> columns;
        for (std::size_t i = 0; i < function.arguments; ++i) {
            columns.push_back(numbers_in(duckdb_data_chunk_get_vector(input, i), rows));
        }
        std::vector<std::uint64_t> answers(rows);
        if (const auto done = function.call(columns, answers); !done.ok()) {
            duckdb_scalar_function_set_error(info, done.error().text().c_str());
            return;
        }
        put_answers(answers, function.is_condition, output);
    }
};

template <typename Function>
Result<void> register_scalar(const Engine& engine,
                             Function function,
                             duckdb_type arguments,
                             duckdb_type result,
                             duckdb_scalar_function_t callback,
                             duckdb_scalar_function_bind_t bind) {
    const Owned<duckdb_scalar_function, duckdb_destroy_scalar_function> scalar(
        duckdb_create_scalar_function());
    const OwnedLogicalType argument(duckdb_create_logical_type(arguments));
    const OwnedLogicalType returned(duckdb_create_logical_type(result));
    duckdb_scalar_function_set_name(scalar.get(), function.name.c_str());
    for (std::size_t i = 0; i < function.arguments; ++i) {
        duckdb_scalar_function_add_parameter(scalar.get(), argument.get());
    }
    duckdb_scalar_function_set_return_type(scalar.get(), returned.get());
    duckdb_scalar_function_set_special_handling(scalar.get());
    duckdb_scalar_function_set_function(scalar.get(), callback);
    if (bind != nullptr) {
        duckdb_scalar_function_set_bind(scalar.get(), bind);
    }
    const std::string name = function.name;
    duckdb_scalar_function_set_extra_info(
        scalar.get(), std::make_unique<Function>(std::move(function)).release(), [](void* extra) {
            std::unique_ptr<Function>(static_cast<Function*>(extra)).reset();
        });
    if (duckdb_register_scalar_function(engine.connection(), scalar.get()) != DuckDBSuccess) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("DuckDB refuses the function {}", name));
    }
    return {};
}

}  // namespace

Result<void> register_sql_function(const Engine& engine, SqlFunction function) {
    return register_scalar(
        engine, std::move(function), DUCKDB_TYPE_VARCHAR, DUCKDB_TYPE_VARCHAR, &call_text, nullptr);
}

Result<void> register_number_function(const Engine& engine,
                                      DerivedTables& made,
                                      NumberFunction function) {
    const duckdb_type result = function.is_condition ? DUCKDB_TYPE_BOOLEAN : DUCKDB_TYPE_UBIGINT;
    KnownNumberFunction known{function.name, function.arguments, std::move(function), &made};
    return register_scalar(engine,
                           std::move(known),
                           DUCKDB_TYPE_UBIGINT,
                           result,
                           &KnownNumberFunction::call,
                           &KnownNumberFunction::bind);
}

}  // namespace dyetrace::store
