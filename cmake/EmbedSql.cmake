# SQL in files of its own, as constants in C++.
#
#   embed_sql(query FOLDER sql ENUMS a.h)   after add_layer(query …), in src/query/CMakeLists.txt
#
#   src/query/sql/conversations.sql  ──►  #include "query/sql.h"
#   src/query/sql/report.sql              query::sql::kConversations, query::sql::kReportSums      std::string_view
#                                         query::sql::kAll     {"conversations", kConversations}, {"report_sums", kReportSums}, …, by name
#
# A file is one documented module: its first comment lines say what it is for. If it has several statements, each begins with its name:
#
#   -- statement sums: calls that are alike, added up once.
#
# The constants are a library of their own, dyetrace_query_sql, which the layer links; a text that changes compiles no file but that one.
#
# Comments stay out of the program, as all lines that begin with `--` do: who looks for names of tables in a statement would find them there.
#
# {flow_rule.tcp} is the number that has this name in schema/enums.toml, schema/errors.toml or schema/flags, {ActKind.kFutexWoke} the one that it has in an
# `enum class` of the headers after ENUMS; a name that is not there fails the build. @report_sums stands for the text of that statement: what several
# begin with is written once. Words like $object stand for values that query/named_sql.h puts in. A new file is found when the build starts.

set(_embed_sql_script "${CMAKE_CURRENT_LIST_DIR}/EmbedSqlHeader.cmake")
set(_embed_sql_schema "${PROJECT_SOURCE_DIR}/src/schema")

function(embed_sql layer)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER" "ENUMS")
    file(RELATIVE_PATH place "${PROJECT_SOURCE_DIR}/src" "${CMAKE_CURRENT_SOURCE_DIR}/${arg_FOLDER}")
    file(GLOB files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${arg_FOLDER}/*.sql")
    file(GLOB names CONFIGURE_DEPENDS "${_embed_sql_schema}/enums.toml" "${_embed_sql_schema}/errors.toml" "${_embed_sql_schema}/flags/*.toml")
    set(headers "")
    foreach(header IN LISTS arg_ENUMS)
        list(APPEND headers "${PROJECT_SOURCE_DIR}/src/${header}")
    endforeach()
    string(REPLACE "/" "::" namespace "dyetrace::${place}")
    set(header "${PROJECT_BINARY_DIR}/generated/${place}.h")
    string(REGEX REPLACE "h$" "cpp" source "${header}")
    add_custom_command(
        OUTPUT "${source}" "${header}"
        COMMAND "${CMAKE_COMMAND}" -DPLACE=${place} -DHEADER=${header} -DNAMESPACE=${namespace} "-DFILES=${files}" "-DNAMES=${names}" "-DENUMS=${headers}"
            -P "${_embed_sql_script}"
        DEPENDS ${files} ${names} ${headers} "${_embed_sql_script}"
        COMMENT "SQL ${place}"
        VERBATIM)
    string(REPLACE "/" "_" target "dyetrace_${place}")
    add_library(${target} STATIC "${source}" "${header}")
    target_include_directories(${target} PUBLIC "${PROJECT_BINARY_DIR}/generated")
    target_link_libraries(${target} PRIVATE dyetrace_flags)
    target_link_libraries(dyetrace_${layer} PUBLIC ${target})
endfunction()
