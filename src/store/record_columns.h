// Records as columns: a row per record, written straight into the vectors of a DuckDB chunk.
//
//   ColumnWriter writer(*schema::find_record(RecordId::kSyscallEvent));
//   writer.write(rows, host_index, cpu, {0, 3, 5}, chunk)      columns 0, 3 and 5 of the record into vectors 0, 1 and 2
//
// One description (schema::RecordInfo) serves every record: the kind of a column is looked at once per column and chunk,
// the loop over rows inside knows its type. Numbers are stored, never passed through a call per value.
#pragma once

#include <duckdb.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schema/record.h"
#include "schema/record_info.h"

namespace dyetrace::store {

// The caller destroys it.
duckdb_logical_type logical_type_of(schema::ColumnType type);

class ColumnWriter {
  public:
    explicit ColumnWriter(const schema::RecordInfo& info);

    const schema::RecordInfo& info() const { return *info_; }

    // At most duckdb_vector_size() records of info()'s type, each with all its fields. `columns[i]` goes to vector i; a
    // number after the last column (DuckDB asks for one when it only counts) is left alone. Sets the chunk's size.
    void write(std::span<const schema::RecordBytes> rows,
               std::uint16_t host_index,
               std::uint16_t cpu,
               std::span<const std::size_t> columns,
               duckdb_data_chunk chunk);

  private:
    void write_column(const schema::ColumnInfo& column, duckdb_vector vector);
    void write_text(const schema::ColumnInfo& column, duckdb_vector vector);
    void write_port(const schema::ColumnInfo& column, duckdb_vector vector);
    void write_attached(const schema::ColumnInfo& column, duckdb_vector vector);
    void write_numbers(const schema::ColumnInfo& column, duckdb_vector vector);
    void write_bit(const schema::ColumnInfo& column, duckdb_vector vector);
    void write_validity(int present_bit, duckdb_vector vector);
    bool append_text(const schema::ColumnInfo& column, schema::RecordBytes record);

    const schema::RecordInfo* info_;
    std::uint16_t family_offset_ = 0;  // of the u16 `family`; 0: has none
    std::span<const schema::RecordBytes> rows_;
    std::uint16_t host_index_ = 0;
    std::uint16_t cpu_ = 0;
    std::vector<std::uint32_t> present_;
    std::string text_;
};

}  // namespace dyetrace::store
