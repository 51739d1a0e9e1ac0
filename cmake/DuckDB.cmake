# The target duckdb: the library and its headers, as third_party/duckdb/fetch left them. Only dyetrace-store links it
# (docs/decisions/0008-by-hand-or-by-a-library.md); the recorder never does.

set(DUCKDB_FOLDER "${PROJECT_SOURCE_DIR}/third_party/.fetched/duckdb")
set(duckdb_machine "")
if(CMAKE_CROSSCOMPILING)
    string(APPEND DUCKDB_FOLDER "-${CMAKE_SYSTEM_PROCESSOR}")
    set(duckdb_machine " ${CMAKE_SYSTEM_PROCESSOR}")
endif()
if(NOT EXISTS "${DUCKDB_FOLDER}/libduckdb.so")
    message(FATAL_ERROR "DuckDB is not here yet: run third_party/duckdb/fetch${duckdb_machine}")
endif()
install(FILES "${DUCKDB_FOLDER}/libduckdb.so" DESTINATION lib/dyetrace COMPONENT shared)

add_library(duckdb SHARED IMPORTED GLOBAL)
set_target_properties(duckdb PROPERTIES
    IMPORTED_LOCATION "${DUCKDB_FOLDER}/libduckdb.so"
    INTERFACE_INCLUDE_DIRECTORIES "${DUCKDB_FOLDER}/include")
