# The target duckdb: the C API's header, and stubs of all its functions, so that the program starts without the library and
# loads it when `store` first needs it (store/duckdb_loader.h). The recorder never does.
#
#   duckdb_query:  jmp *slot[17]      slot[17] = dlsym("duckdb_query"), when libduckdb.so is loaded
#
# Header and library are as third_party/duckdb/fetch left them.

set(DUCKDB_FOLDER "${PROJECT_SOURCE_DIR}/third_party/.fetched/duckdb")
if(NOT EXISTS "${DUCKDB_FOLDER}/libduckdb.so")
    message(FATAL_ERROR "DuckDB is not here yet: run third_party/duckdb/fetch")
endif()
if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    message(FATAL_ERROR "The pinned DuckDB library is for x86_64")
endif()
# Where dlopen() finds it from the build tree; installed, the program says where (src/apps).
list(APPEND CMAKE_BUILD_RPATH "${DUCKDB_FOLDER}")
install(FILES "${DUCKDB_FOLDER}/libduckdb.so" DESTINATION lib/dyetrace)

function(_write_duckdb_stubs path)
    file(STRINGS "${DUCKDB_FOLDER}/duckdb.h" declarations REGEX "^DUCKDB_C_API ")
    set(stubs "")
    set(names "")
    set(index 0)
    foreach(declaration IN LISTS declarations)
        if(declaration MATCHES "(duckdb_[a-z0-9_]+)\\(")
            set(name "${CMAKE_MATCH_1}")
            string(APPEND stubs "__asm__(\".text; .globl ${name}; .type ${name},@function; ${name}: endbr64; "
                                "jmp *duckdb_slots+8*${index}(%rip)\");\n")
            string(APPEND names "    \"${name}\\0\"\n")
            math(EXPR index "${index} + 1")
        endif()
    endforeach()
    string(CONCAT text "/* Written by cmake/DuckDB.cmake from duckdb.h. */\n"
        "__attribute__((visibility(\"hidden\"))) void* duckdb_slots[${index}];\n"
        "__attribute__((visibility(\"hidden\"))) const char duckdb_slot_names[] =\n${names};\n${stubs}")
    file(CONFIGURE OUTPUT "${path}" CONTENT "${text}" @ONLY)
endfunction()
_write_duckdb_stubs("${PROJECT_BINARY_DIR}/generated/duckdb_stubs.c")

add_library(duckdb STATIC "${PROJECT_BINARY_DIR}/generated/duckdb_stubs.c")
target_include_directories(duckdb SYSTEM INTERFACE "${DUCKDB_FOLDER}")
target_link_libraries(duckdb INTERFACE ${CMAKE_DL_LIBS})
