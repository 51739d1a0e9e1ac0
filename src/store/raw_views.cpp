#include "store/raw_views.h"

#include <fmt/format.h>

#include "store/duckdb_engine.h"
#include "store/sealed_files.h"

namespace dyetrace::store {

std::string internal_view(const std::string& name, const std::string& select, bool is_loaded) {
    if (!is_loaded) {
        return fmt::format("CREATE OR REPLACE VIEW internal.{} AS {};\n", name, select);
    }
    return fmt::format(
        "CREATE OR REPLACE TABLE internal.loaded_{0} AS {1};\n"
        "CREATE OR REPLACE VIEW internal.{0} AS FROM internal.loaded_{0};\n",
        name,
        select);
}

void RawParts::add_files(std::span<const SealedFolder> folders,
                         const schema::RecordInfo& info,
                         const std::string& condition) {
    for (const AlikeFiles& alike : parquet_files(folders, info.name)) {
        std::string list;
        for (const std::string& path : alike.paths) {
            list += (list.empty() ? "" : ", ") + file_literal(path);
        }
        // by name: DuckDB opens each file whenever a statement that names the view is prepared
        selects_.push_back(fmt::format("SELECT * FROM read_parquet([{}], union_by_name = {}){}",
                                       list,
                                       alike.columns == 0,
                                       condition.empty() ? "" : " WHERE " + condition));
        has_all_columns_ = has_all_columns_ || alike.columns == current_columns();
    }
}

void RawParts::add_blocks(const std::string& function, const schema::RecordInfo& info) {
    selects_.push_back(fmt::format("SELECT * FROM {}('{}')", function, info.name));
    has_all_columns_ = true;
}

std::string RawParts::view(const schema::RecordInfo& info, bool is_loaded) const {
    return internal_view(fmt::format("raw_{}", info.name),
                         fmt::format("{}", fmt::join(selects_, " UNION ALL BY NAME ")),
                         is_loaded);
}

}  // namespace dyetrace::store
