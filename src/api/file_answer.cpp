#include "api/file_answer.h"

#include <fmt/format.h>

#include "base/file.h"
#include "store/row_writer.h"

namespace dyetrace::api {
namespace {

Error too_large() {
    return Error(ErrorCode::kLimitReached,
                 fmt::format("the file would be larger than {} MB: take `dyetrace sql … -o FILE`",
                             kFileBytesMax >> 20));
}

Result<std::string> rows_text(store::Database& database,
                              const std::string& sql,
                              store::RowFormat format,
                              const std::atomic<bool>& cancelled) {
    std::string text;
    TRY(database.ask(
        sql,
        [&](store::Rows& rows) -> Result<void> {
            return store::write_rows(rows, format, 0, [&](std::string_view piece) -> Result<void> {
                if (text.size() + piece.size() > kFileBytesMax) {
                    return too_large();
                }
                text += piece;
                return {};
            });
        },
        &cancelled));
    return text;
}

Result<std::string> parquet_bytes(store::Database& database,
                                  const std::string& sql,
                                  const std::atomic<bool>& cancelled) {
    TRY(const std::string folder, database.temporary_folder());
    const std::string file = folder + "/rows.parquet";
    const Result<void> written = database.write_parquet(sql, file, &cancelled);
    Result<std::string> bytes =
        written.ok() ? base::read_file(file, kFileBytesMax) : written.error();
    static_cast<void>(base::remove_file(file));  // or the next one is written over it
    return bytes;
}

}  // namespace

Result<Answer> file_answer(store::Database& database,
                           const base::Json& question,
                           const std::atomic<bool>& cancelled) {
    TRY(const std::string sql, question.get<std::string>("sql"));
    TRY(const std::string format, question.get<std::string>("format"));
    Answer answer{.content_type = "application/octet-stream", .file_name = "rows." + format};
    if (format == "csv") {
        answer.content_type = "text/csv; charset=utf-8";
        TRY(answer.body, rows_text(database, sql, store::RowFormat::kCsv, cancelled));
    } else if (format == "json") {
        answer.content_type = "application/jsonl";
        TRY(answer.body, rows_text(database, sql, store::RowFormat::kJson, cancelled));
    } else if (format == "parquet") {
        TRY(answer.body, parquet_bytes(database, sql, cancelled));
    } else {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("no format '{}': csv, json or parquet", format));
    }
    return answer;
}

}  // namespace dyetrace::api
