// Runs while dyetrace is built:  write_trace_frame trace_frame.cpp
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "schema/derived_tables.h"
#include "schema/record_info.h"
#include "schema/sql.h"
#include "store/duckdb_engine.h"

namespace dyetrace::store {
namespace {

constexpr std::string_view kCallsView = "CREATE OR REPLACE VIEW internal.numbered_calls AS";
constexpr const char* kCallRows =
    "SELECT string_agg(format('    {{{}, {}, \"{}\", \"{}\", {}, \"{}\"}},\n', abi, number, name, "
    "coalesce(transfer, ''), coalesce(message_flags_at, 0), coalesce(cuts, '')), '' ORDER BY abi, "
    "number, name) FROM internal.numbered_calls";
constexpr std::size_t kFileBytesMax = std::size_t{1} << 20;

// A derived table is made from columns, not by a statement that creates it.
std::string empty_rows_of(const schema::DerivedTable& table) {
    std::string columns;
    for (const schema::DerivedColumn& column : table.columns) {
        columns += fmt::format("{}NULL::{} AS {}",
                               columns.empty() ? "" : ", ",
                               column.is_small ? "UTINYINT" : "UBIGINT",
                               column.name);
    }
    return fmt::format("SELECT {} LIMIT 0", columns);
}

class FrameWriter {
  public:
    FrameWriter(Engine engine, std::string folder)
        : engine_(std::move(engine)), folder_(std::move(folder)) {}

    Result<void> add(const char* kind,
                     const std::string& name,
                     const std::string& select,
                     int level) {
        const std::string path = fmt::format("{}/{}.parquet", folder_, name);
        TRY(
            engine_.run(fmt::format("COPY ({}) TO {} (FORMAT parquet, COMPRESSION zstd, "
                                    "COMPRESSION_LEVEL {}, PARQUET_VERSION V2)",
                                    select,
                                    sql_text(path),
                                    level)));
        TRY(const std::string bytes, base::read_file(path, kFileBytesMax));
        source_ += fmt::format("    {{\"{}.parquet\",\n     {{\"", name);
        for (std::size_t at = 0; at < bytes.size(); ++at) {
            source_ += at % 32 == 31 ? "\"\n      \"" : "";
            source_ += fmt::format("\\{:03o}", static_cast<unsigned char>(bytes[at]));
        }
        source_ += fmt::format("\", {}}},\n     FrameFile::Kind::{}}},\n", bytes.size(), kind);
        return {};
    }

    // The rows of a view of prelude.sql as those of an array.
    Result<std::string> numbered_calls() {
        OwnedResult result;
        const std::string_view macros = schema::macros_sql();
        const std::string_view view = macros.substr(macros.find(kCallsView));
        TRY(engine_.run(std::string(view.substr(0, view.find(';')))));
        if (duckdb_query(engine_.connection(), kCallRows, result.out()) != DuckDBSuccess) {
            return engine_error(duckdb_result_error(result.out()));
        }
        char* const rows = duckdb_value_varchar(result.out(), 0, 0);
        std::string text = rows;
        duckdb_free(rows);
        return text;
    }

    Result<std::string> source() {
        TRY(engine_.run(schema::labels_sql()));
        TRY(const std::string calls, numbered_calls());
        TRY(add("kLabels", "syscalls", "FROM internal.call_labels", 19));
        TRY(add("kLabels", "flags", "FROM internal.flag_labels", 19));
        TRY(engine_.run(schema::live_tables_sql()));
        for (const schema::RecordInfo& info : schema::records()) {
            TRY(add("kRecords", info.name, fmt::format("FROM internal.live_{}", info.name), 1));
        }
        for (const schema::DerivedTable& table : schema::derived_tables()) {
            TRY(add("kDerived", table.name, empty_rows_of(table), 1));
        }
        return fmt::format(
            "// Made by write_trace_frame.\n#include \"store/trace_frame.h\"\n\nnamespace "
            "dyetrace::store {{\nnamespace {{\n\nconstexpr FrameFile kFiles[] = "
            "{{\n{}}};\n\nconstexpr NumberedCall kCalls[] = {{\n{}}};\n\n}}  // "
            "namespace\n\nstd::span<const FrameFile> trace_frame() {{\n    "
            "return kFiles;\n}}\n\nstd::span<const NumberedCall> numbered_calls() {{\n    return "
            "kCalls;\n}}\n\n}}  // namespace dyetrace::store\n",
            source_,
            calls);
    }

  private:
    Engine engine_;
    std::string folder_;
    std::string source_;
};

Result<void> write(const std::string& path) {
    std::string folder = path + ".XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) {
        return Error::from_errno(errno, fmt::format("cannot make '{}'", folder));
    }
    EngineOptions options;
    options.threads = 1;
    TRY(Engine engine, Engine::open(options));
    Result<std::string> source = FrameWriter(std::move(engine), folder).source();
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    TRY(const std::string text, std::move(source));
    return base::write_file_atomically(path, text);
}

}  // namespace
}  // namespace dyetrace::store

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: write_trace_frame FILE\n", stderr);
        return 2;
    }
    const dyetrace::Result<void> written = dyetrace::store::write(argv[1]);
    if (!written.ok()) {
        std::fprintf(stderr, "write_trace_frame: %s\n", written.error().message().c_str());
        return 1;
    }
    return 0;
}
