#include "store/record_columns.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "schema/text.h"
#include "store/duckdb_engine.h"

namespace dyetrace::store {
namespace {

using schema::ColumnInfo;
using schema::ColumnSource;
using schema::ColumnType;
using schema::RecordBytes;

template <typename Value>
Value load(RecordBytes record, std::size_t offset) {
    Value value{};
    std::memcpy(&value, record.data() + offset, sizeof(value));
    return value;
}

template <typename Value>
void copy_field(std::span<const RecordBytes> rows, std::size_t offset, void* into) {
    auto* values = static_cast<Value*>(into);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        values[i] = load<Value>(rows[i], offset);
    }
}

void copy_field_of_size(std::span<const RecordBytes> rows,
                        std::size_t offset,
                        std::size_t size,
                        void* into) {
    switch (size) {
        case 1:
            return copy_field<std::uint8_t>(rows, offset, into);
        case 2:
            return copy_field<std::uint16_t>(rows, offset, into);
        case 4:
            return copy_field<std::uint32_t>(rows, offset, into);
        case 8:
            return copy_field<std::uint64_t>(rows, offset, into);
        default:
            CHECK(false, "a column of the schema has an odd size");
    }
}

// What append_escaped would leave as it is, seen without looking at UTF-8.
bool is_plain(std::string_view bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c > 0 && c != '\\'; });
}

std::uint64_t* writable_validity(duckdb_vector vector) {
    duckdb_vector_ensure_validity_writable(vector);
    return duckdb_vector_get_validity(vector);
}

duckdb_type duckdb_type_of(ColumnType type) {
    switch (type) {
        case ColumnType::kU8:
            return DUCKDB_TYPE_UTINYINT;
        case ColumnType::kU16:
            return DUCKDB_TYPE_USMALLINT;
        case ColumnType::kU32:
            return DUCKDB_TYPE_UINTEGER;
        case ColumnType::kU64:
            return DUCKDB_TYPE_UBIGINT;
        case ColumnType::kS32:
            return DUCKDB_TYPE_INTEGER;
        case ColumnType::kS64:
            return DUCKDB_TYPE_BIGINT;
        case ColumnType::kBool:
            return DUCKDB_TYPE_BOOLEAN;
        case ColumnType::kText:
            return DUCKDB_TYPE_VARCHAR;
        case ColumnType::kNumbers:
            return DUCKDB_TYPE_LIST;
    }
    CHECK(false, "a column of the schema has an unknown type");
}

}  // namespace

duckdb_logical_type logical_type_of(ColumnType type) {
    if (type != ColumnType::kNumbers) {
        return duckdb_create_logical_type(duckdb_type_of(type));
    }
    const OwnedLogicalType number(duckdb_create_logical_type(DUCKDB_TYPE_UINTEGER));
    return duckdb_create_list_type(number.get());
}

ColumnWriter::ColumnWriter(const schema::RecordInfo& info)
    : info_(&info), present_(duckdb_vector_size()) {
    for (const ColumnInfo& column : info.columns) {
        if (std::string_view(column.name) == "family" && column.size == sizeof(std::uint16_t)) {
            family_offset_ = column.offset;
        }
    }
}

void ColumnWriter::write(std::span<const RecordBytes> rows,
                         std::uint16_t host_index,
                         std::uint16_t cpu,
                         std::span<const std::size_t> columns,
                         duckdb_data_chunk chunk) {
    CHECK(rows.size() <= duckdb_vector_size());
    rows_ = rows;
    host_index_ = host_index;
    cpu_ = cpu;
    if (info_->present_offset != 0) {
        copy_field<std::uint32_t>(rows, info_->present_offset, present_.data());
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i] < info_->columns.size()) {
            write_column(info_->columns[columns[i]], duckdb_data_chunk_get_vector(chunk, i));
        }
    }
    duckdb_data_chunk_set_size(chunk, rows.size());
}

void ColumnWriter::write_column(const ColumnInfo& column, duckdb_vector vector) {
    void* const data = duckdb_vector_get_data(vector);
    switch (column.source) {
        case ColumnSource::kHost:
            std::fill_n(static_cast<std::uint16_t*>(data), rows_.size(), host_index_);
            return;
        case ColumnSource::kCpu:
            std::fill_n(static_cast<std::uint16_t*>(data), rows_.size(), cpu_);
            return;
        case ColumnSource::kField:
            copy_field_of_size(rows_, column.offset, column.size, data);
            return write_validity(column.present_bit, vector);
        case ColumnSource::kBit:
            return write_bit(column, vector);
        case ColumnSource::kAddressPort:
            return write_port(column, vector);
        case ColumnSource::kAttachmentField:
            return write_attached(column, vector);
        case ColumnSource::kAttachedNumbers:
            return write_numbers(column, vector);
        case ColumnSource::kText:
        case ColumnSource::kIp:
        case ColumnSource::kAttachment:
        case ColumnSource::kAddress:
            return write_text(column, vector);
    }
}

void ColumnWriter::write_validity(int present_bit, duckdb_vector vector) {
    if (present_bit < 0 || info_->present_offset == 0) {
        return;
    }
    std::uint64_t* const validity = writable_validity(vector);
    for (std::size_t first = 0; first < rows_.size(); first += 64) {
        const std::size_t count = std::min<std::size_t>(64, rows_.size() - first);
        std::uint64_t word = 0;
        for (std::size_t i = 0; i < count; ++i) {
            word |= std::uint64_t{(present_[first + i] >> present_bit) & 1u} << i;
        }
        validity[first / 64] = word;
    }
}

void ColumnWriter::write_bit(const ColumnInfo& column, duckdb_vector vector) {
    auto* const values = static_cast<std::uint8_t*>(duckdb_vector_get_data(vector));
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        values[i] = (present_[i] >> column.present_bit) & 1u;
    }
}

void ColumnWriter::write_port(const ColumnInfo& column, duckdb_vector vector) {
    auto* const values = static_cast<std::uint16_t*>(duckdb_vector_get_data(vector));
    std::uint64_t* const validity = writable_validity(vector);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        values[i] = 0;
        bool valid = false;
        if (rows_[i].size() > info_->size) {
            const auto kind = static_cast<schema::Attachment>(column.attachment);
            const auto bytes = schema::attachment(rows_[i], info_->size, kind);
            const auto address = bytes ? schema::parse_socket_address(*bytes) : std::nullopt;
            valid = address && address->has_port;
            values[i] = valid ? address->port : std::uint16_t{0};
        }
        duckdb_validity_set_row_validity(validity, i, valid);
    }
}

void ColumnWriter::write_attached(const ColumnInfo& column, duckdb_vector vector) {
    auto* const values = static_cast<std::uint64_t*>(duckdb_vector_get_data(vector));
    std::uint64_t* const validity = writable_validity(vector);
    const auto kind = static_cast<schema::Attachment>(column.attachment);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        values[i] = 0;
        const auto bytes = rows_[i].size() > info_->size
                               ? schema::attachment(rows_[i], info_->size, kind)
                               : std::nullopt;
        const bool valid = bytes && bytes->size() >= std::size_t{column.offset} + column.size;
        if (valid) {
            std::memcpy(&values[i], bytes->data() + column.offset, column.size);
        }
        duckdb_validity_set_row_validity(validity, i, valid);
    }
}

// A record without the attachment has an empty list.
void ColumnWriter::write_numbers(const ColumnInfo& column, duckdb_vector vector) {
    auto* const lists = static_cast<duckdb_list_entry*>(duckdb_vector_get_data(vector));
    const auto kind = static_cast<schema::Attachment>(column.attachment);
    idx_t size = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const auto bytes = schema::attachment(rows_[i], info_->size, kind).value_or("");
        lists[i] = {size, bytes.size() / column.size};
        duckdb_list_vector_reserve(vector, size + lists[i].length);
        auto* const numbers = static_cast<std::uint32_t*>(
            duckdb_vector_get_data(duckdb_list_vector_get_child(vector)));
        std::memcpy(numbers + size, bytes.data(), lists[i].length * column.size);
        size += lists[i].length;
    }
    duckdb_list_vector_set_size(vector, size);
}

void ColumnWriter::write_text(const ColumnInfo& column, duckdb_vector vector) {
    std::uint64_t* const validity = writable_validity(vector);
    const bool attached =
        column.source == ColumnSource::kAttachment || column.source == ColumnSource::kAddress;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        if (i % 64 == 0) {
            validity[i / 64] = 0;
        }
        if ((attached && rows_[i].size() == info_->size) || !append_text(column, rows_[i])) {
            continue;
        }
        validity[i / 64] |= std::uint64_t{1} << (i % 64);
        duckdb_vector_assign_string_element_len(vector, i, text_.data(), text_.size());
    }
}

// Leaves the column's value in text_; false: NULL.
bool ColumnWriter::append_text(const ColumnInfo& column, RecordBytes record) {
    text_.clear();
    const auto kind = static_cast<schema::Attachment>(column.attachment);
    std::string_view bytes;
    if (column.source == ColumnSource::kIp) {
        const auto family =
            family_offset_ == 0 ? std::uint16_t{0} : load<std::uint16_t>(record, family_offset_);
        text_ = schema::ip_text(
            family, reinterpret_cast<const std::uint8_t*>(record.data()) + column.offset);
        return !text_.empty();
    }
    if (column.source == ColumnSource::kText) {
        bytes = {reinterpret_cast<const char*>(record.data()) + column.offset, column.size};
        bytes = bytes.substr(0, bytes.find('\0'));
    } else {
        const auto attached = schema::attachment(record, info_->size, kind);
        if (!attached) {
            return false;
        }
        bytes = *attached;
    }
    if (column.source == ColumnSource::kAddress) {
        const auto address = schema::parse_socket_address(bytes);
        text_ = address ? address->address : std::string();
        return address.has_value();
    }
    if (is_plain(bytes)) {
        text_.append(bytes);
    } else {
        schema::append_escaped(text_, bytes);
    }
    return true;
}

}  // namespace dyetrace::store
