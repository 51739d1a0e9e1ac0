#include "store/cell_value.h"

#include <cstdint>
#include <limits>

#include "store/duckdb_engine.h"

namespace dyetrace::store {
namespace {

template <typename Value>
Value raw_at(duckdb_vector vector, idx_t row) {
    return static_cast<const Value*>(duckdb_vector_get_data(vector))[row];
}

CellValue narrowed(duckdb_hugeint value) {
    if (value.upper == 0) {
        return std::uint64_t{value.lower};
    }
    const bool is_small =
        value.upper == -1 && value.lower > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    return is_small ? CellValue(static_cast<std::int64_t>(value.lower))
                    : CellValue(duckdb_hugeint_to_double(value));
}

CellValue narrowed(duckdb_uhugeint value) {
    return value.upper == 0 ? CellValue(std::uint64_t{value.lower})
                            : CellValue(duckdb_uhugeint_to_double(value));
}

CellValue decimal_at(duckdb_vector vector, idx_t row) {
    const OwnedLogicalType type(duckdb_vector_get_column_type(vector));
    duckdb_decimal decimal{duckdb_decimal_width(type.get()), duckdb_decimal_scale(type.get()), {}};
    const auto set = [&](std::int64_t value) {
        decimal.value = {static_cast<std::uint64_t>(value), value < 0 ? -1 : 0};
    };
    switch (duckdb_decimal_internal_type(type.get())) {
        case DUCKDB_TYPE_SMALLINT:
            set(raw_at<std::int16_t>(vector, row));
            break;
        case DUCKDB_TYPE_INTEGER:
            set(raw_at<std::int32_t>(vector, row));
            break;
        case DUCKDB_TYPE_BIGINT:
            set(raw_at<std::int64_t>(vector, row));
            break;
        default:
            decimal.value = raw_at<duckdb_hugeint>(vector, row);
            break;
    }
    return duckdb_decimal_to_double(decimal);
}

}  // namespace

CellValue value_at(duckdb_vector vector, duckdb_type type, idx_t row) {
    switch (type) {
        case DUCKDB_TYPE_BOOLEAN:
            return raw_at<bool>(vector, row);
        case DUCKDB_TYPE_TINYINT:
            return std::int64_t{raw_at<std::int8_t>(vector, row)};
        case DUCKDB_TYPE_SMALLINT:
            return std::int64_t{raw_at<std::int16_t>(vector, row)};
        case DUCKDB_TYPE_INTEGER:
            return std::int64_t{raw_at<std::int32_t>(vector, row)};
        case DUCKDB_TYPE_BIGINT:
            return raw_at<std::int64_t>(vector, row);
        case DUCKDB_TYPE_UTINYINT:
            return std::uint64_t{raw_at<std::uint8_t>(vector, row)};
        case DUCKDB_TYPE_USMALLINT:
            return std::uint64_t{raw_at<std::uint16_t>(vector, row)};
        case DUCKDB_TYPE_UINTEGER:
            return std::uint64_t{raw_at<std::uint32_t>(vector, row)};
        case DUCKDB_TYPE_UBIGINT:
            return raw_at<std::uint64_t>(vector, row);
        case DUCKDB_TYPE_HUGEINT:
            return narrowed(raw_at<duckdb_hugeint>(vector, row));
        case DUCKDB_TYPE_UHUGEINT:
            return narrowed(raw_at<duckdb_uhugeint>(vector, row));
        case DUCKDB_TYPE_FLOAT:
            return double{raw_at<float>(vector, row)};
        case DUCKDB_TYPE_DOUBLE:
            return raw_at<double>(vector, row);
        case DUCKDB_TYPE_DECIMAL:
            return decimal_at(vector, row);
        default:
            return {};
    }
}

}  // namespace dyetrace::store
