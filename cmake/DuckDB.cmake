# The target duckdb: the library and its C API's header, as third_party/duckdb/fetch left them. Only dyetrace-store links it
# (docs/decisions/0008-by-hand-or-by-a-library.md); the recorder never does.

set(DUCKDB_FOLDER "${PROJECT_SOURCE_DIR}/third_party/.fetched/duckdb")
if(NOT EXISTS "${DUCKDB_FOLDER}/libduckdb.so")
    message(FATAL_ERROR "DuckDB is not here yet: run third_party/duckdb/fetch")
endif()
if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    message(FATAL_ERROR "The pinned DuckDB library is for x86_64")
endif()
install(FILES "${DUCKDB_FOLDER}/libduckdb.so" DESTINATION lib/dyetrace COMPONENT shared)

add_library(duckdb SHARED IMPORTED GLOBAL)
set_target_properties(duckdb PROPERTIES
    IMPORTED_LOCATION "${DUCKDB_FOLDER}/libduckdb.so"
    INTERFACE_INCLUDE_DIRECTORIES "${DUCKDB_FOLDER}")
