#include "store/rows.h"

#include <cmath>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "store/cell_text.h"
#include "store/cell_value.h"
#include "store/rows_state.h"

namespace dyetrace::store {

namespace {

bool is_json(duckdb_result* result, idx_t column) {
    const OwnedLogicalType type(duckdb_column_logical_type(result, column));
    const std::unique_ptr<char, void (*)(void*)> alias(duckdb_logical_type_get_alias(type.get()),
                                                       &duckdb_free);
    return alias != nullptr && std::string_view(alias.get()) == "JSON";
}

// What `Number` cannot hold is none.
template <typename Number>
struct Converted {
    std::optional<Number> operator()(std::monostate /*none*/) const { return std::nullopt; }
    std::optional<Number> operator()(bool is_true) const { return static_cast<Number>(is_true); }
    std::optional<Number> operator()(double number) const {
        if constexpr (std::is_same_v<Number, double>) {
            return number;
        } else {
            const double whole = std::trunc(number);
            // A bound may be what a number beyond it was rounded to.
            const double below = std::is_signed_v<Number> ? -0x1p63 : -1;
            const double beyond = std::is_signed_v<Number> ? 0x1p63 : 0x1p64;
            return whole > below && whole < beyond ? std::optional(static_cast<Number>(whole))
                                                   : std::nullopt;
        }
    }
    template <typename Whole>
    std::optional<Number> operator()(Whole number) const {
        if constexpr (std::is_same_v<Number, double>) {
            return static_cast<double>(number);
        } else {
            return std::in_range<Number>(number) ? std::optional(static_cast<Number>(number))
                                                 : std::nullopt;
        }
    }
};

template <typename Number>
std::optional<Number> number_in(const Cell& cell) {
    CHECK(cell.kind != CellKind::kText && cell.kind != CellKind::kNested,
          "text was asked for a number");
    return std::visit(Converted<Number>(), cell.value);
}

}  // namespace

std::optional<std::uint64_t> Cell::unsigned_number() const {
    return number_in<std::uint64_t>(*this);
}

std::optional<std::int64_t> Cell::signed_number() const {
    return number_in<std::int64_t>(*this);
}

std::optional<double> Cell::number() const {
    return number_in<double>(*this);
}

Rows::Rows(std::unique_ptr<State> state) : state_(std::move(state)) {
    duckdb_result* const result = state_->result.out();
    if (duckdb_result_return_type(*result) != DUCKDB_RESULT_TYPE_QUERY_RESULT) {
        return;
    }
    for (idx_t i = 0; i < duckdb_column_count(result); ++i) {
        const duckdb_type type = duckdb_column_type(result, i);
        state_->types.push_back(type);
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
        cells_[i].value = cells_[i].kind == CellKind::kNull
                              ? CellValue()
                              : value_at(vector, state_->types[i], state_->row);
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
