# Writes the header that embed_sql() promises, and beside it the texts, so that a changed text compiles one file:
#
#   cmake -DPLACE=query/sql -DHEADER=… -DNAMESPACE=… -DFILES=report.sql;… -DNAMES=enums.toml;flags/process.toml;… -DENUMS=operation.h;… -P EmbedSqlHeader.cmake
set(count 0)
set(statements "")
set(declarations "")
set(constants "")
set(names "")
set(sentences "")

# ActKind, kFutexWoke → 4, if one of the headers has `enum class ActKind` with values that are counted from 0; else "".
function(number_in_headers set name number_variable)
    set(${number_variable} "" PARENT_SCOPE)
    foreach(header IN LISTS ENUMS)
        file(READ "${header}" known)
        string(REGEX REPLACE "//[^\n]*" "" known "${known}")
        if(NOT known MATCHES "enum class ${set}[ :a-z_0-9]*{([^}=]*)}")
            continue()
        endif()
        string(REGEX MATCHALL "k[A-Za-z0-9]+" values "${CMAKE_MATCH_1}")
        list(FIND values "${name}" at)
        if(NOT at EQUAL -1)
            set(${number_variable} ${at} PARENT_SCOPE)
        endif()
    endforeach()
endfunction()

# {flow_rule.tcp} → 0, {signal.SIGSYS} → 31, {ActKind.kFutexWoke} → 4
function(put_numbers_in text_variable file)
    set(text "${${text_variable}}")
    string(REGEX MATCHALL "{[A-Za-z_0-9]+\\.[A-Za-z_0-9]+}" used "${text}")
    list(REMOVE_DUPLICATES used)
    foreach(word IN LISTS used)
        string(REGEX MATCH "{([A-Za-z_0-9]+)\\.([A-Za-z_0-9]+)}" unused "${word}")
        set(set "${CMAKE_MATCH_1}")
        set(name "${CMAKE_MATCH_2}")
        number_in_headers("${set}" "${name}" number)
        foreach(toml IN LISTS NAMES)
            file(READ "${toml}" known)
            string(FIND "\n${known}" "\n[${set}]\n" at)
            if(at EQUAL -1)
                continue()
            endif()
            string(SUBSTRING "${known}" ${at} -1 section)
            string(FIND "${section}" "\n[" end)
            string(SUBSTRING "${section}" 0 ${end} section)
            # enums.toml: values = { tcp = 0, … }; flags/*.toml: values = [ "SIGSYS=0x1f", … ]; errors.toml: ENOENT = 2
            if(section MATCHES "[ {[\"\n]${name} ?= ?(0x[0-9a-f]+|[0-9]+)")
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
    string(REGEX MATCH "^-- (statement [a-z_0-9]+: )?([^\n]*)" unused "${text}")
    set("sentence_of_${name}" "${CMAKE_MATCH_2}" PARENT_SCOPE)
    string(REGEX REPLACE "(^|\n) *--[^\n]*" "\\1" text "${text}")
    string(STRIP "${text}" text)
    if(text STREQUAL "")
        message(FATAL_ERROR "${file}: the statement '${name}' is empty")
    endif()
    put_numbers_in(text "${file}")
    set("text_of_${name}" "${text}" PARENT_SCOPE)
    set(statements ${statements} "${name}" PARENT_SCOPE)
endfunction()

# @moves_named → the text of that statement, with those that it is put together from in its turn.
function(put_statements_in text_variable name)
    set(text "${${text_variable}}")
    foreach(depth RANGE 9)
        if(NOT text MATCHES "@([a-z_0-9]+)")
            set(${text_variable} "${text}" PARENT_SCOPE)
            return()
        endif()
        set(part "${CMAKE_MATCH_1}")
        if(NOT DEFINED "text_of_${part}")
            message(FATAL_ERROR "${name}: there is no statement @${part}")
        endif()
        string(REGEX REPLACE "@${part}([^a-z_0-9]|$)" "@{}\\1" text "${text}")
        string(REPLACE "@{}" "${text_of_${part}}" text "${text}")
    endforeach()
    message(FATAL_ERROR "${name}: its statements have no end")
endfunction()

# name: report_sums
function(write_statement name)
    set(text "${text_of_${name}}")
    put_statements_in(text "${name}")
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
    set(sentences "${sentences}    NamedText{\"${name}\", R\"sql(${sentence_of_${name}})sql\"},\n" PARENT_SCOPE)
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
foreach(name IN LISTS statements)
    write_statement("${name}")
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
// What the first line of each says.
extern const std::array<NamedText, ${count}> kSentences;

}  // namespace ${NAMESPACE}
")
file(WRITE "${source}" "#include \"${PLACE}.h\"

namespace ${NAMESPACE} {

${constants}
constexpr std::array<NamedText, ${count}> kAll = {
${names}};

constexpr std::array<NamedText, ${count}> kSentences = {
${sentences}};

}  // namespace ${NAMESPACE}
")
file(COPY_FILE "${HEADER}.new" "${HEADER}" ONLY_IF_DIFFERENT)
