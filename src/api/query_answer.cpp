#include "api/query_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "base/text.h"
#include "store/rows.h"

namespace dyetrace::api {
namespace {

using base::Json;

constexpr std::uint64_t kRowsUsual = 1000;
constexpr std::int64_t kExactMax = std::int64_t{1} << 53;  // of JavaScript's numbers

std::string_view kind_text(store::CellKind kind) {
    switch (kind) {
        case store::CellKind::kNull:
            return "null";
        case store::CellKind::kBool:
            return "bool";
        case store::CellKind::kNumber:
            return "number";
        case store::CellKind::kText:
            return "text";
        case store::CellKind::kNested:
            return "nested";
    }
    return "text";
}

Json columns_of(const store::Rows& rows) {
    Json columns = Json::array();
    for (const store::ResultColumn& column : rows.columns()) {
        columns.append(Json::object().set("name", column.name).set("kind", kind_text(column.kind)));
    }
    return columns;
}

Json value_of(const store::Cell& cell, const store::ResultColumn& column) {
    switch (cell.kind) {
        case store::CellKind::kNull:
            return {};
        case store::CellKind::kBool:
            return cell.text == "true";
        case store::CellKind::kNumber: {
            const char *begin = cell.text.data(), *end = begin + cell.text.size();
            std::int64_t whole = 0;
            double number = 0;
            const auto [read, error] = std::from_chars(begin, end, whole);
            if (error == std::errc() && read == end && whole >= -kExactMax && whole <= kExactMax) {
                return Json(whole);
            }
            return !column.is_64_bit && std::from_chars(begin, end, number).ptr == end
                       ? Json(number)
                       : Json(cell.text);
        }
        default:
            return Json(cell.text);
    }
}

std::size_t bytes_of(std::span<const store::Cell> row) {
    std::size_t bytes = 0;
    for (const store::Cell& cell : row) {
        bytes += cell.text.size() + 4;
    }
    return bytes;
}

// One statement's rows, in place of those of the statement before.
Result<void> take_rows(store::Rows& rows, std::uint64_t rows_max, Json& answer) {
    Json columns = columns_of(rows), taken = Json::array();
    std::uint64_t count = 0;
    std::size_t bytes = 0;
    bool is_cut = false;
    while (true) {
        TRY(const std::span<const store::Cell> row, rows.next());
        if (row.empty()) {
            break;
        }
        bytes += bytes_of(row);
        if (bytes > kAnswerBytesMax && count == 0) {
            return Error(ErrorCode::kLimitReached,
                         fmt::format("a row of {} bytes: an answer has at most {} MiB, ask for a "
                                     "part of it (text[1:1000]), or take `dyetrace sql`",
                                     base::with_separators(bytes),
                                     kAnswerBytesMax >> 20));
        }
        if (count == rows_max || bytes > kAnswerBytesMax) {
            is_cut = true;
            break;
        }
        Json cells = Json::array();
        for (std::size_t i = 0; i < row.size(); ++i) {
            cells.append(value_of(row[i], rows.columns()[i]));
        }
        taken.append(std::move(cells));
        ++count;
    }
    answer.set("columns", std::move(columns)).set("rows", std::move(taken)).set("is_cut", is_cut);
    return {};
}

// `run`: how the database is asked, as for this program or as for others.
Result<Answer> answer_of(store::Database& database,
                         decltype(&store::Database::query) run,
                         const std::string& sql,
                         const Json& question,
                         const std::atomic<bool>& cancelled) {
    std::uint64_t rows_max = kRowsUsual;
    if (const Json* asked = question.find("rows_max"); asked != nullptr) {
        rows_max =
            std::min<std::uint64_t>(asked->as<std::uint64_t>().value_or(kRowsUsual), kRowsMax);
    }
    Json answer = Json::object();
    answer.set("columns", Json::array()).set("rows", Json::array()).set("is_cut", false);
    TRY((database.*run)(
        sql,
        [&](store::Rows& rows) -> Result<void> {
            return rows.columns().empty() ? Result<void>() : take_rows(rows, rows_max, answer);
        },
        &cancelled));
    answer.set("losses", database.losses().text());
    return Answer{.body = answer.text()};
}

}  // namespace

Result<Answer> query_answer(store::Database& database,
                            const Json& question,
                            const std::atomic<bool>& cancelled) {
    TRY(const std::string sql, question.get<std::string>("sql"));
    return answer_of(database, &store::Database::ask, sql, question, cancelled);
}

Result<Answer> rows_answer(store::Database& database,
                           const std::string& sql,
                           const Json& question,
                           const std::atomic<bool>& cancelled) {
    return answer_of(database, &store::Database::query, sql, question, cancelled);
}

}  // namespace dyetrace::api
