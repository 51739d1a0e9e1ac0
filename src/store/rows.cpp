#include "store/rows.h"

#include <utility>

#include "store/cell_text.h"
#include "store/rows_state.h"

namespace dyetrace::store {

namespace {

bool is_json(duckdb_result* result, idx_t column) {
    const OwnedLogicalType type(duckdb_column_logical_type(result, column));
    const std::unique_ptr<char, void (*)(void*)> alias(duckdb_logical_type_get_alias(type.get()),
                                                       &duckdb_free);
    return alias != nullptr && std::string_view(alias.get()) == "JSON";
}

}  // namespace

Rows::Rows(std::unique_ptr<State> state) : state_(std::move(state)) {
    duckdb_result* const result = state_->result.out();
    if (duckdb_result_return_type(*result) != DUCKDB_RESULT_TYPE_QUERY_RESULT) {
        return;
    }
    for (idx_t i = 0; i < duckdb_column_count(result); ++i) {
        const duckdb_type type = duckdb_column_type(result, i);
        columns_.push_back({duckdb_column_name(result, i),
                            cell_kind_of(type),
                            is_64_bit(type),
                            is_json(result, i)});
    }
}

Rows::Rows(Rows&&) noexcept = default;
Rows& Rows::operator=(Rows&&) noexcept = default;
Rows::~Rows() = default;

Result<std::span<const Cell>> Rows::next() {
    if (columns_.empty()) {
        return std::span<const Cell>();
    }
    while (state_->row == state_->row_count) {
        state_->chunk = OwnedChunk(duckdb_fetch_chunk(*state_->result.out()));
        if (state_->chunk.get() == nullptr) {
            const char* const message = duckdb_result_error(state_->result.out());
            if (message != nullptr && *message != '\0') {
                return engine_error(message);
            }
            columns_.clear();
            return std::span<const Cell>();
        }
        state_->row = 0;
        state_->row_count = duckdb_data_chunk_get_size(state_->chunk.get());
    }
    text_.clear();
    cells_.resize(columns_.size());
    ends_.resize(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const duckdb_vector vector = duckdb_data_chunk_get_vector(state_->chunk.get(), i);
        cells_[i].kind = append_cell(text_, vector, state_->row, false);
        ends_[i] = text_.size();
    }
    std::size_t begin = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        cells_[i].text = std::string_view(text_).substr(begin, ends_[i] - begin);
        begin = ends_[i];
    }
    ++state_->row;
    return std::span<const Cell>(cells_);
}

}  // namespace dyetrace::store
