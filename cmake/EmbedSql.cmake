# SQL in files of its own, as constants in C++.
#
#   embed_sql(query FOLDER sql)         after add_layer(query …), in src/query/CMakeLists.txt
#
#   src/query/sql/conversations.sql  ──►  #include "query/sql.h"
#   src/query/sql/file_moves.sql          query::sql::kConversations, query::sql::kFileMoves      std::string_view
#                                         query::sql::kAll     {"conversations", kConversations}, …, by name
#
# A file is one documented module: its first comment lines say what it is for. They stay out of the program, as all lines that begin with `--` do: who looks for names
# of tables in a statement would find them there. Words like $object stand for values that query/named_sql.h puts in; a new file is found when the build starts.

set(_embed_sql_script "${CMAKE_CURRENT_LIST_DIR}/EmbedSqlHeader.cmake")

function(embed_sql layer)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER" "")
    file(RELATIVE_PATH place "${PROJECT_SOURCE_DIR}/src" "${CMAKE_CURRENT_SOURCE_DIR}/${arg_FOLDER}")
    file(GLOB files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${arg_FOLDER}/*.sql")
    string(REPLACE "/" "::" namespace "dyetrace::${place}")
    set(header "${PROJECT_BINARY_DIR}/generated/${place}.h")
    add_custom_command(
        OUTPUT "${header}"
        COMMAND "${CMAKE_COMMAND}" -DHEADER=${header} -DNAMESPACE=${namespace} "-DFILES=${files}" -P "${_embed_sql_script}"
        DEPENDS ${files} "${_embed_sql_script}"
        COMMENT "${place}.h"
        VERBATIM)
    target_sources(dyetrace_${layer} PRIVATE "${header}")
endfunction()
