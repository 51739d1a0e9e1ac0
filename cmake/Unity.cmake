# The files of one layer compiled as one: the headers that they share are read once, not once per file.
#
#   unity_sources(sources trace segment_reader.cpp segment_writer.cpp)
#
#   <build>/unity/trace_0.cpp      #include "trace/segment_reader.cpp"        DYETRACE_UNITY of them at most, as many in each;
#                                  #include "trace/segment_writer.cpp"        what is not C++ of the repository stays as it is
#
# sets `sources` to what the target trace compiles; with DYETRACE_UNITY=1 these are the files themselves, so that a change of one
# compiles one. Paths are relative to src/, so that worktrees share what the compiler's cache holds.
#
#   unity_tests(sources trace_test segment_reader_test.cpp segment_writer_test.cpp)
#
# does so with DYETRACE_UNITY_TESTS of them: tests are many and small, and share one header that is dear. Clang compiles them one
# by one in `./check --all`, so that each shows there that it needs no other.
#
# Files that are compiled as one share their anonymous namespaces: what two of them need has one home, what only sounds alike has
# two names.

set(DYETRACE_UNITY 1 CACHE STRING "How many files of a layer are compiled as one: a whole build is faster, a change of one file slower")
set(DYETRACE_UNITY_TESTS 1 CACHE STRING "How many files of a test program are compiled as one")

function(unity_sources result name)
    _unities(sources ${name} ${DYETRACE_UNITY} ${ARGN})
    set(${result} ${sources} PARENT_SCOPE)
endfunction()

function(unity_tests result name)
    _unities(sources ${name} ${DYETRACE_UNITY_TESTS} ${ARGN})
    set(${result} ${sources} PARENT_SCOPE)
endfunction()

# The files that include at_once of the given each, and what is no C++ of the repository.
function(_unities result name at_once)
    set(made "")
    set(files "")
    foreach(source IN LISTS ARGN)
        get_filename_component(absolute "${source}" ABSOLUTE)
        file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}/src" "${absolute}")
        if(at_once GREATER 1 AND path MATCHES "^(\\.\\./test/|[a-z]).*/[^/]+\\.cpp$")
            list(APPEND files "${path}")
        else()
            list(APPEND made "${source}")
        endif()
    endforeach()
    list(LENGTH files count)
    math(EXPR batches "(${count} + ${at_once} - 1) / ${at_once}")
    set(number 0)
    while(number LESS batches)
        math(EXPR begin "${count} * ${number} / ${batches}")
        math(EXPR length "${count} * (${number} + 1) / ${batches} - ${begin}")
        list(SUBLIST files ${begin} ${length} batch)
        set(unity "${PROJECT_BINARY_DIR}/unity/${name}_${number}.cpp")
        list(TRANSFORM batch REPLACE "(.+)" "#include \"\\1\"\n")
        list(JOIN batch "" text)
        file(CONFIGURE OUTPUT "${unity}" CONTENT "${text}" @ONLY)
        list(APPEND made "${unity}")
        math(EXPR number "${number} + 1")
    endwhile()
    set(${result} ${made} PARENT_SCOPE)
endfunction()
