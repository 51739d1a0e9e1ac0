# Writes the header that embed_sql() promises, and beside it the texts, so that a changed text compiles one file:
#
#   cmake -DPLACE=query/sql -DHEADER=… -DNAMESPACE=… -DFILES=report.sql;… -DNAMES=enums.toml;flags/process.toml;… -P EmbedSqlHeader.cmake
set(count 0)
set(declarations "")
set(constants "")
set(names "")

# {flow_rule.tcp} → 0, {signal.SIGSYS} → 31
function(put_numbers_in text_variable file)
    set(text "${${text_variable}}")
    string(REGEX MATCHALL "{[a-z_0-9]+\\.[A-Za-z_0-9]+}" used "${text}")
    list(REMOVE_DUPLICATES used)
    foreach(word IN LISTS used)
        string(REGEX MATCH "{([a-z_0-9]+)\\.([A-Za-z_0-9]+)}" unused "${word}")
        set(set "${CMAKE_MATCH_1}")
        set(name "${CMAKE_MATCH_2}")
        set(number "")
        foreach(toml IN LISTS NAMES)
            file(READ "${toml}" known)
            string(FIND "\n${known}" "\n[${set}]\n" at)
            if(at EQUAL -1)
                continue()
            endif()
            string(SUBSTRING "${known}" ${at} -1 section)
            string(FIND "${section}" "\n[" end)
            string(SUBSTRING "${section}" 0 ${end} section)
            # enums.toml: values = { tcp = 0, … }; flags/*.toml: values = [ "SIGSYS=0x1f", … ]
            if(section MATCHES "[ {[\"]${name} ?= ?(0x[0-9a-f]+|[0-9]+)")
                math(EXPR number "${CMAKE_MATCH_1}")
            endif()
        endforeach()
        if(number STREQUAL "")
            message(FATAL_ERROR "${file}: ${word}: the schema has no such name")
        endif()
        string(REPLACE "${word}" "${number}" text "${text}")
    endforeach()
    set(${text_variable} "${text}" PARENT_SCOPE)
endfunction()

# name: report_sums
function(add_statement name text file)
    string(REGEX REPLACE "(^|\n) *--[^\n]*" "\\1" text "${text}")
    string(STRIP "${text}" text)
    if(text STREQUAL "")
        message(FATAL_ERROR "${file}: the statement '${name}' is empty")
    endif()
    put_numbers_in(text "${file}")
    set(constant k)
    string(REPLACE "_" ";" words "${name}")
    foreach(word IN LISTS words)
        string(SUBSTRING "${word}" 0 1 first)
        string(SUBSTRING "${word}" 1 -1 rest)
        string(TOUPPER "${first}" first)
        string(APPEND constant "${first}${rest}")
    endforeach()
    math(EXPR count "${count} + 1")
    set(count ${count} PARENT_SCOPE)
    set(declarations "${declarations}extern const std::string_view ${constant};\n" PARENT_SCOPE)
    set(constants "${constants}constexpr std::string_view ${constant} = R\"sql(${text})sql\";\n" PARENT_SCOPE)
    set(names "${names}    NamedText{\"${name}\", ${constant}},\n" PARENT_SCOPE)
endfunction()

foreach(file IN LISTS FILES)
    file(READ "${file}" text)
    if(NOT text MATCHES "^--")
        message(FATAL_ERROR "${file}: its first line is no comment that says what it is for")
    endif()
    get_filename_component(module "${file}" NAME_WE)
    if(NOT text MATCHES "\n-- statement ")
        add_statement("${module}" "${text}" "${file}")
        continue()
    endif()
    set(is_first TRUE)
    while(text MATCHES "\n-- statement ([a-z_0-9]+):")
        set(next "${CMAKE_MATCH_1}")
        string(FIND "${text}" "\n-- statement ${next}:" at)
        string(SUBSTRING "${text}" 0 ${at} before)
        math(EXPR at "${at} + 1")
        string(SUBSTRING "${text}" ${at} -1 text)
        if(is_first)
            set(is_first FALSE)
        else()
            add_statement("${module}_${name}" "${before}" "${file}")
        endif()
        set(name "${next}")
    endwhile()
    add_statement("${module}_${name}" "${text}" "${file}")
endforeach()
string(REGEX REPLACE "h$" "cpp" source "${HEADER}")
file(WRITE "${HEADER}.new" "// Made by embed_sql() (cmake/EmbedSql.cmake).
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace ${NAMESPACE} {

using NamedText = std::pair<std::string_view, std::string_view>;

${declarations}
extern const std::array<NamedText, ${count}> kAll;

}  // namespace ${NAMESPACE}
")
file(WRITE "${source}" "#include \"${PLACE}.h\"

namespace ${NAMESPACE} {

${constants}
constexpr std::array<NamedText, ${count}> kAll = {
${names}};

}  // namespace ${NAMESPACE}
")
file(COPY_FILE "${HEADER}.new" "${HEADER}" ONLY_IF_DIFFERENT)
