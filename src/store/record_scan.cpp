#include "store/record_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <optional>

#include "schema/record_info.h"
#include "store/record_columns.h"
#include "trace/record_walk.h"

namespace dyetrace::store {
namespace {

struct Binding {
    const RecordSource* source;
    const schema::RecordInfo* info;
};

// What the threads of one scan share.
struct ScanState {
    std::vector<const ScanBlock*> blocks;
    std::vector<std::size_t> columns;
    std::atomic<std::size_t> next_block{0};
};

// What one thread reads.
struct ThreadState {
    explicit ThreadState(const schema::RecordInfo& info) : writer(info) {
        rows.reserve(duckdb_vector_size());
    }
    ColumnWriter writer;
    trace::BlockReader reader;
    const ScanBlock* block = nullptr;
    trace::RecordWalk walk{{}};
    std::vector<schema::RecordBytes> rows;
};

template <typename State>
void destroy(void* state) {
    std::unique_ptr<State>(static_cast<State*>(state)).reset();
}

const schema::RecordInfo* find_record_named(const std::string& name) {
    for (const schema::RecordInfo& info : schema::records()) {
        if (name == info.name) {
            return &info;
        }
    }
    return nullptr;
}

// DuckDB holds in memory what it takes for the smaller side of a join. How many of each type are in a block nobody has counted.
std::uint64_t estimated_rows(const RecordSource& source, const schema::RecordInfo& info) {
    const std::uint64_t type = trace::record_type_bit(static_cast<std::uint16_t>(info.id));
    std::uint64_t rows = 0;
    for (const ScanBlock& block : source.blocks) {
        if (const std::uint64_t types = block.header.record_types; (types & type) != 0) {
            rows += block.header.record_count / static_cast<std::uint64_t>(std::popcount(types));
        }
    }
    return rows;
}

void bind(duckdb_bind_info bind) {
    const schema::RecordInfo* const info = find_record_named(text_argument(bind));
    if (info == nullptr) {
        duckdb_bind_set_error(bind, "_records: no such record");
        return;
    }
    for (const schema::ColumnInfo& column : info->columns) {
        const OwnedLogicalType type(logical_type_of(column.type));
        duckdb_bind_add_result_column(bind, column.name, type.get());
    }
    const auto* const source = static_cast<const RecordSource*>(duckdb_bind_get_extra_info(bind));
    duckdb_bind_set_cardinality(bind, estimated_rows(*source, *info), false);
    duckdb_bind_set_bind_data(
        bind, std::make_unique<Binding>(Binding{source, info}).release(), &destroy<Binding>);
}

const Binding& binding_of(duckdb_init_info init) {
    return *static_cast<const Binding*>(duckdb_init_get_bind_data(init));
}

void init(duckdb_init_info init) {
    const Binding& binding = binding_of(init);
    auto state = std::make_unique<ScanState>();
    const std::uint64_t type = trace::record_type_bit(static_cast<std::uint16_t>(binding.info->id));
    for (const ScanBlock& block : binding.source->blocks) {
        if ((block.header.record_types & type) != 0) {
            state->blocks.push_back(&block);
        }
    }
    for (idx_t i = 0; i < duckdb_init_get_column_count(init); ++i) {
        state->columns.push_back(duckdb_init_get_column_index(init, i));
    }
    const auto useful = std::clamp<std::size_t>(
        state->blocks.size(), 1, static_cast<std::size_t>(binding.source->threads));
    duckdb_init_set_max_threads(init, useful);
    duckdb_init_set_init_data(init, state.release(), &destroy<ScanState>);
}

void init_thread(duckdb_init_info init) {
    auto state = std::make_unique<ThreadState>(*binding_of(init).info);
    duckdb_init_set_init_data(init, state.release(), &destroy<ThreadState>);
}

// Fills `rows` from the block that the thread is in; they stay valid until it reads the next.
void collect_rows(ThreadState& thread) {
    thread.rows.clear();
    const schema::RecordId type = thread.writer.info().id;
    while (thread.rows.size() < duckdb_vector_size()) {
        const schema::RecordBytes record = thread.walk.next();
        if (record.empty()) {
            return;
        }
        if (schema::header_of(record).type == type) {
            thread.rows.push_back(record);
        }
    }
}

// False: no blocks are left.
Result<bool> enter_next_block(ScanState& scan, ThreadState& thread) {
    const std::size_t index = scan.next_block.fetch_add(1);
    if (index >= scan.blocks.size()) {
        return false;
    }
    thread.block = scan.blocks[index];
    const trace::SegmentReader& segment = *thread.block->segment;
    TRY(const auto records, thread.reader.read(segment, thread.block->header));
    if (!records) {
        return Error(ErrorCode::kCorrupt,
                     fmt::format("'{}' changed while it was read", segment.path()));
    }
    thread.walk = trace::RecordWalk(*records);
    return true;
}

Result<void> fill(ScanState& scan, ThreadState& thread, duckdb_data_chunk chunk) {
    collect_rows(thread);
    while (thread.rows.empty()) {
        TRY(const bool entered, enter_next_block(scan, thread));
        if (!entered) {
            duckdb_data_chunk_set_size(chunk, 0);
            return {};
        }
        collect_rows(thread);
    }
    const trace::BlockHeader& header = thread.block->header;
    thread.writer.write(thread.rows, header.host_index, header.cpu, scan.columns, chunk);
    return {};
}

void scan(duckdb_function_info function, duckdb_data_chunk chunk) {
    auto& state = *static_cast<ScanState*>(duckdb_function_get_init_data(function));
    auto& thread = *static_cast<ThreadState*>(duckdb_function_get_local_init_data(function));
    if (const auto filled = fill(state, thread, chunk); !filled.ok()) {
        duckdb_function_set_error(function, filled.error().text().c_str());
    }
}

}  // namespace

Result<void> register_record_scan(const Engine& engine,
                                  const RecordSource& source,
                                  const char* name) {
    const OwnedTableFunction function(duckdb_create_table_function());
    const OwnedLogicalType text(duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR));
    duckdb_table_function_set_name(function.get(), name);
    duckdb_table_function_add_parameter(function.get(), text.get());
    duckdb_table_function_set_extra_info(
        function.get(), const_cast<RecordSource*>(&source), nullptr);
    duckdb_table_function_set_bind(function.get(), &bind);
    duckdb_table_function_set_init(function.get(), &init);
    duckdb_table_function_set_local_init(function.get(), &init_thread);
    duckdb_table_function_set_function(function.get(), &scan);
    duckdb_table_function_supports_projection_pushdown(function.get(), true);
    if (duckdb_register_table_function(engine.connection(), function.get()) != DuckDBSuccess) {
        return Error(ErrorCode::kIo, fmt::format("DuckDB refuses the function {}", name));
    }
    return {};
}

}  // namespace dyetrace::store
