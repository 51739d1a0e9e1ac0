# Writes the header that embed_sql() promises: cmake -DHEADER=… -DNAMESPACE=… -DFILES=… -P EmbedSqlHeader.cmake
set(constants "")
set(names "")
foreach(file IN LISTS FILES)
    file(READ "${file}" text)
    if(NOT text MATCHES "^--")
        message(FATAL_ERROR "${file}: its first line is no comment that says what it is for")
    endif()
    string(REGEX REPLACE "(^|\n) *--[^\n]*" "\\1" text "${text}")
    string(STRIP "${text}" text)
    get_filename_component(name "${file}" NAME_WE)
    set(constant k)
    string(REPLACE "_" ";" words "${name}")
    foreach(word IN LISTS words)
        string(SUBSTRING "${word}" 0 1 first)
        string(SUBSTRING "${word}" 1 -1 rest)
        string(TOUPPER "${first}" first)
        string(APPEND constant "${first}${rest}")
    endforeach()
    string(APPEND constants "inline constexpr std::string_view ${constant} = R\"sql(${text})sql\";\n")
    string(APPEND names "    NamedText{\"${name}\", ${constant}},\n")
endforeach()
file(WRITE "${HEADER}.new" "// Made by embed_sql() (cmake/EmbedSql.cmake).
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace ${NAMESPACE} {

using NamedText = std::pair<std::string_view, std::string_view>;

${constants}
inline constexpr auto kAll = std::to_array<NamedText>({
${names}});

}  // namespace ${NAMESPACE}
")
file(RENAME "${HEADER}.new" "${HEADER}")
