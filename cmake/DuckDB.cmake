# The imported target duckdb: C API header and library as third_party/duckdb/fetch left them. Nothing links it by
# accident: without the file the target is absent and a layer that names it does not configure.

set(DUCKDB_FOLDER "${PROJECT_SOURCE_DIR}/third_party/.fetched/duckdb")
if(EXISTS "${DUCKDB_FOLDER}/libduckdb.so")
    add_library(duckdb SHARED IMPORTED GLOBAL)
    set_target_properties(duckdb PROPERTIES
        IMPORTED_LOCATION "${DUCKDB_FOLDER}/libduckdb.so"
        IMPORTED_SONAME libduckdb.so
        INTERFACE_INCLUDE_DIRECTORIES "${DUCKDB_FOLDER}")
    install(FILES "${DUCKDB_FOLDER}/libduckdb.so" DESTINATION "lib/dyetrace")
else()
    message(FATAL_ERROR "DuckDB is not here yet: run third_party/duckdb/fetch")
endif()
