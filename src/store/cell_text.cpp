#include "store/cell_text.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>

#include "base/json_string.h"
#include "store/duckdb_engine.h"

namespace dyetrace::store {
namespace {

using Int128 = __int128;
using UInt128 = unsigned __int128;

template <typename Value>
Value at(duckdb_vector vector, idx_t row) {
    return static_cast<const Value*>(duckdb_vector_get_data(vector))[row];
}

Int128 joined(duckdb_hugeint value) {
    return (Int128{value.upper} << 64) | Int128{value.lower};
}
UInt128 joined(duckdb_uhugeint value) {
    return (UInt128{value.upper} << 64) | UInt128{value.lower};
}

template <typename Number>
void append_number(std::string& out, Number number) {
    fmt::format_to(std::back_inserter(out), "{}", number);
}

// DuckDB writes 1.0, not 1: a double stays recognisable.
template <typename Number>
void append_float(std::string& out, Number number, bool as_json) {
    if (!std::isfinite(number)) {
        const char* const word = std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
        as_json ? base::append_json_string(out, word) : static_cast<void>(out.append(word));
        return;
    }
    const std::string text = fmt::format("{}", number);
    out.append(text);
    if (text.find_first_of(".e") == std::string::npos) {
        out.append(".0");
    }
}

void append_decimal(std::string& out, Int128 value, unsigned scale) {
    std::string digits = fmt::format("{}", value < 0 ? -value : value);
    if (digits.size() <= scale) {
        digits.insert(0, scale + 1 - digits.size(), '0');
    }
    out.append(value < 0 ? "-" : "").append(digits, 0, digits.size() - scale);
    if (scale > 0) {
        out.append(".").append(digits, digits.size() - scale);
    }
}

void append_decimal_cell(std::string& out,
                         duckdb_vector vector,
                         duckdb_logical_type type,
                         idx_t row) {
    const unsigned scale = duckdb_decimal_scale(type);
    switch (duckdb_decimal_internal_type(type)) {
        case DUCKDB_TYPE_SMALLINT:
            return append_decimal(out, at<std::int16_t>(vector, row), scale);
        case DUCKDB_TYPE_INTEGER:
            return append_decimal(out, at<std::int32_t>(vector, row), scale);
        case DUCKDB_TYPE_BIGINT:
            return append_decimal(out, at<std::int64_t>(vector, row), scale);
        default:
            return append_decimal(out, joined(at<duckdb_hugeint>(vector, row)), scale);
    }
}

void append_date(std::string& out, std::int64_t days) {
    const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{days}}};
    fmt::format_to(std::back_inserter(out),
                   "{:04}-{:02}-{:02}",
                   static_cast<int>(date.year()),
                   static_cast<unsigned>(date.month()),
                   static_cast<unsigned>(date.day()));
}

// `fraction` of a second in units of 1/`per_second`, written with as many digits as it has, without trailing zeros.
void append_time(std::string& out, std::int64_t units, std::int64_t per_second, int digits) {
    const std::int64_t seconds = units / per_second;
    fmt::format_to(std::back_inserter(out),
                   "{:02}:{:02}:{:02}",
                   seconds / 3600,
                   seconds / 60 % 60,
                   seconds % 60);
    if (const std::int64_t fraction = units % per_second; fraction != 0) {
        std::string text = fmt::format("{:0{}}", fraction, digits);
        text.erase(text.find_last_not_of('0') + 1);
        out.append(".").append(text);
    }
}

void append_timestamp(std::string& out, std::int64_t units, std::int64_t per_second, int digits) {
    if (units == std::numeric_limits<std::int64_t>::max() ||
        units == -std::numeric_limits<std::int64_t>::max()) {
        out.append(units > 0 ? "infinity" : "-infinity");
        return;
    }
    const std::int64_t per_day = 86'400 * per_second;
    std::int64_t days = units / per_day;
    std::int64_t rest = units % per_day;
    if (rest < 0) {
        days -= 1;
        rest += per_day;
    }
    append_date(out, days);
    out.push_back(' ');
    append_time(out, rest, per_second, digits);
}

void append_interval(std::string& out, duckdb_interval interval) {
    std::string text;
    const auto part = [&](std::int64_t count, const char* unit) {
        if (count != 0) {
            text += fmt::format(
                "{}{} {}{}", text.empty() ? "" : " ", count, unit, count == 1 ? "" : "s");
        }
    };
    part(interval.months / 12, "year");
    part(interval.months % 12, "month");
    part(interval.days, "day");
    if (interval.micros != 0 || text.empty()) {
        text.append(text.empty() ? "" : " ").append(interval.micros < 0 ? "-" : "");
        append_time(text, interval.micros < 0 ? -interval.micros : interval.micros, 1'000'000, 6);
    }
    out.append(text);
}

void append_uuid(std::string& out, duckdb_hugeint value) {
    const auto high = static_cast<std::uint64_t>(value.upper) ^ (std::uint64_t{1} << 63);
    const std::string hex = fmt::format("{:016x}{:016x}", high, value.lower);
    out.append(hex, 0, 8).append("-").append(hex, 8, 4).append("-").append(hex, 12, 4);
    out.append("-").append(hex, 16, 4).append("-").append(hex, 20, 12);
}

std::string_view string_at(duckdb_vector vector, idx_t row) {
    auto* const strings = static_cast<duckdb_string_t*>(duckdb_vector_get_data(vector));
    return {duckdb_string_t_data(&strings[row]), duckdb_string_t_length(strings[row])};
}

void append_blob(std::string& out, std::string_view bytes) {
    for (const char c : bytes) {
        if (c >= 0x20 && c < 0x7f && c != '\\') {
            out.push_back(c);
        } else {
            fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
        }
    }
}

void append_json_cell(std::string& out, duckdb_vector vector, idx_t row) {
    if (append_cell(out, vector, row, true) == CellKind::kNull) {
        out.append("null");
    }
}

void append_items(std::string& out, duckdb_vector child, std::uint64_t first, std::uint64_t count) {
    out.push_back('[');
    for (std::uint64_t i = 0; i < count; ++i) {
        out.append(i == 0 ? "" : ",");
        append_json_cell(out, child, first + i);
    }
    out.push_back(']');
}

void append_struct(std::string& out, duckdb_vector vector, duckdb_logical_type type, idx_t row) {
    out.push_back('{');
    for (idx_t i = 0; i < duckdb_struct_type_child_count(type); ++i) {
        out.append(i == 0 ? "" : ",");
        char* const name = duckdb_struct_type_child_name(type, i);
        base::append_json_string(out, name);
        duckdb_free(name);
        out.push_back(':');
        append_json_cell(out, duckdb_struct_vector_get_child(vector, i), row);
    }
    out.push_back('}');
}

// {"key":value}; keys that are not text are written as the text of their JSON.
void append_map(std::string& out, duckdb_vector vector, idx_t row) {
    const auto entry = at<duckdb_list_entry>(vector, row);
    const duckdb_vector pairs = duckdb_list_vector_get_child(vector);
    out.push_back('{');
    for (std::uint64_t i = 0; i < entry.length; ++i) {
        out.append(i == 0 ? "" : ",");
        std::string key;
        append_cell(key, duckdb_struct_vector_get_child(pairs, 0), entry.offset + i, false);
        base::append_json_string(out, key);
        out.push_back(':');
        append_json_cell(out, duckdb_struct_vector_get_child(pairs, 1), entry.offset + i);
    }
    out.push_back('}');
}

void append_enum(std::string& out, duckdb_vector vector, duckdb_logical_type type, idx_t row) {
    std::uint64_t index = 0;
    switch (duckdb_enum_internal_type(type)) {
        case DUCKDB_TYPE_UTINYINT:
            index = at<std::uint8_t>(vector, row);
            break;
        case DUCKDB_TYPE_USMALLINT:
            index = at<std::uint16_t>(vector, row);
            break;
        default:
            index = at<std::uint32_t>(vector, row);
            break;
    }
    char* const word = duckdb_enum_dictionary_value(type, index);
    out.append(word);
    duckdb_free(word);
}

// False: not a type that is a number.
bool append_number_cell(std::string& out, duckdb_type type, duckdb_vector vector, idx_t row) {
    switch (type) {
        case DUCKDB_TYPE_TINYINT:
            return append_number(out, int{at<std::int8_t>(vector, row)}), true;
        case DUCKDB_TYPE_UTINYINT:
            return append_number(out, unsigned{at<std::uint8_t>(vector, row)}), true;
        case DUCKDB_TYPE_SMALLINT:
            return append_number(out, at<std::int16_t>(vector, row)), true;
        case DUCKDB_TYPE_USMALLINT:
            return append_number(out, at<std::uint16_t>(vector, row)), true;
        case DUCKDB_TYPE_INTEGER:
            return append_number(out, at<std::int32_t>(vector, row)), true;
        case DUCKDB_TYPE_UINTEGER:
            return append_number(out, at<std::uint32_t>(vector, row)), true;
        case DUCKDB_TYPE_BIGINT:
            return append_number(out, at<std::int64_t>(vector, row)), true;
        case DUCKDB_TYPE_UBIGINT:
            return append_number(out, at<std::uint64_t>(vector, row)), true;
        case DUCKDB_TYPE_HUGEINT:
            return append_number(out, joined(at<duckdb_hugeint>(vector, row))), true;
        case DUCKDB_TYPE_UHUGEINT:
            return append_number(out, joined(at<duckdb_uhugeint>(vector, row))), true;
        default:
            return false;
    }
}

// Times and other words; false: a type that is none.
bool append_word_cell(
    std::string& out, duckdb_type id, duckdb_vector vector, duckdb_logical_type type, idx_t row) {
    switch (id) {
        case DUCKDB_TYPE_VARCHAR:
            return out.append(string_at(vector, row)), true;
        case DUCKDB_TYPE_BLOB:
            return append_blob(out, string_at(vector, row)), true;
        case DUCKDB_TYPE_DATE:
            return append_date(out, at<std::int32_t>(vector, row)), true;
        case DUCKDB_TYPE_TIME:
            return append_time(out, at<std::int64_t>(vector, row), 1'000'000, 6), true;
        case DUCKDB_TYPE_TIMESTAMP:
            return append_timestamp(out, at<std::int64_t>(vector, row), 1'000'000, 6), true;
        case DUCKDB_TYPE_TIMESTAMP_TZ:
            append_timestamp(out, at<std::int64_t>(vector, row), 1'000'000, 6);
            return out.append("+00"), true;
        case DUCKDB_TYPE_TIMESTAMP_S:
            return append_timestamp(out, at<std::int64_t>(vector, row), 1, 0), true;
        case DUCKDB_TYPE_TIMESTAMP_MS:
            return append_timestamp(out, at<std::int64_t>(vector, row), 1'000, 3), true;
        case DUCKDB_TYPE_TIMESTAMP_NS:
            return append_timestamp(out, at<std::int64_t>(vector, row), 1'000'000'000, 9), true;
        case DUCKDB_TYPE_INTERVAL:
            return append_interval(out, at<duckdb_interval>(vector, row)), true;
        case DUCKDB_TYPE_UUID:
            return append_uuid(out, at<duckdb_hugeint>(vector, row)), true;
        case DUCKDB_TYPE_ENUM:
            return append_enum(out, vector, type, row), true;
        default:
            return false;
    }
}

bool append_nested_cell(
    std::string& out, duckdb_type id, duckdb_vector vector, duckdb_logical_type type, idx_t row) {
    switch (id) {
        case DUCKDB_TYPE_LIST: {
            const auto entry = at<duckdb_list_entry>(vector, row);
            return append_items(
                       out, duckdb_list_vector_get_child(vector), entry.offset, entry.length),
                   true;
        }
        case DUCKDB_TYPE_ARRAY: {
            const idx_t size = duckdb_array_type_array_size(type);
            return append_items(out, duckdb_array_vector_get_child(vector), row * size, size), true;
        }
        case DUCKDB_TYPE_STRUCT:
            return append_struct(out, vector, type, row), true;
        case DUCKDB_TYPE_MAP:
            return append_map(out, vector, row), true;
        default:
            return false;
    }
}

}  // namespace

CellKind cell_kind_of(duckdb_type type) {
    switch (type) {
        case DUCKDB_TYPE_BOOLEAN:
            return CellKind::kBool;
        case DUCKDB_TYPE_TINYINT:
        case DUCKDB_TYPE_UTINYINT:
        case DUCKDB_TYPE_SMALLINT:
        case DUCKDB_TYPE_USMALLINT:
        case DUCKDB_TYPE_INTEGER:
        case DUCKDB_TYPE_UINTEGER:
        case DUCKDB_TYPE_BIGINT:
        case DUCKDB_TYPE_UBIGINT:
        case DUCKDB_TYPE_HUGEINT:
        case DUCKDB_TYPE_UHUGEINT:
        case DUCKDB_TYPE_FLOAT:
        case DUCKDB_TYPE_DOUBLE:
        case DUCKDB_TYPE_DECIMAL:
            return CellKind::kNumber;
        case DUCKDB_TYPE_LIST:
        case DUCKDB_TYPE_ARRAY:
        case DUCKDB_TYPE_STRUCT:
        case DUCKDB_TYPE_MAP:
            return CellKind::kNested;
        default:
            return CellKind::kText;
    }
}

bool is_64_bit(duckdb_type type) {
    return type == DUCKDB_TYPE_BIGINT || type == DUCKDB_TYPE_UBIGINT;
}

CellKind append_cell(std::string& out, duckdb_vector vector, idx_t row, bool as_json) {
    std::uint64_t* const validity = duckdb_vector_get_validity(vector);
    if (validity != nullptr && !duckdb_validity_row_is_valid(validity, row)) {
        return CellKind::kNull;
    }
    const OwnedLogicalType type(duckdb_vector_get_column_type(vector));
    const duckdb_type id = duckdb_get_type_id(type.get());
    if (append_number_cell(out, id, vector, row) ||
        append_nested_cell(out, id, vector, type.get(), row)) {
        return cell_kind_of(id);
    }
    switch (id) {
        case DUCKDB_TYPE_BOOLEAN:
            out.append(at<bool>(vector, row) ? "true" : "false");
            return CellKind::kBool;
        case DUCKDB_TYPE_FLOAT:
            append_float(out, at<float>(vector, row), as_json);
            return CellKind::kNumber;
        case DUCKDB_TYPE_DOUBLE:
            append_float(out, at<double>(vector, row), as_json);
            return CellKind::kNumber;
        case DUCKDB_TYPE_DECIMAL:
            append_decimal_cell(out, vector, type.get(), row);
            return CellKind::kNumber;
        default:
            break;
    }
    std::string word;
    if (!append_word_cell(word, id, vector, type.get(), row)) {
        word = "(cast this type to VARCHAR)";
    }
    as_json ? base::append_json_string(out, word) : static_cast<void>(out.append(word));
    return CellKind::kText;
}

}  // namespace dyetrace::store
