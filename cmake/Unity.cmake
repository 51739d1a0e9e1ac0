# The files of one folder compiled as one: the headers that they share are read once, not once per file.
#
#   unity_sources(sources trace segment_reader.cpp segment_writer.cpp)
#
#   <build>/unity/trace_0.cpp      #include "trace/segment_reader.cpp"        DYETRACE_UNITY of them at most, all of the same
#                                  #include "trace/segment_writer.cpp"        folder; what is not C++ stays as it is
#
# sets `sources` to what the target trace compiles; with DYETRACE_UNITY=1 these are the files themselves, so that a change of one
# compiles one. Paths are relative to src/, so that worktrees share what the compiler's cache holds.
#
#   unity_tests(sources trace_test segment_reader_test.cpp segment_writer_test.cpp)
#
# does so with DYETRACE_UNITY_TESTS of them, of whichever folders: tests are many and small, and share one header that is dear.
# Clang compiles them one by one in `./check --all`, so that each shows there that it needs no other.
#
# Files that are compiled as one share their anonymous namespaces: what two of them need has one home, what only sounds alike has
# two names.

set(DYETRACE_UNITY 1 CACHE STRING "How many files of a folder are compiled as one: a whole build is faster, a change of one file slower")
set(DYETRACE_UNITY_TESTS 1 CACHE STRING "How many files of a test program are compiled as one")

function(unity_sources result name)
    set(sources ${ARGN})
    if(DYETRACE_UNITY GREATER 1)
        _paths_below_src(paths sources ${ARGN})
        set(folders "")
        foreach(path IN LISTS paths)
            get_filename_component(folder "${path}" DIRECTORY)
            list(APPEND folders "${folder}")
            list(APPEND "files_${folder}" "${path}")
        endforeach()
        list(REMOVE_DUPLICATES folders)
        set(number 0)
        foreach(folder IN LISTS folders)
            _unities(sources number ${name} ${DYETRACE_UNITY} ${files_${folder}})
        endforeach()
    endif()
    set(${result} ${sources} PARENT_SCOPE)
endfunction()

function(unity_tests result name)
    set(sources ${ARGN})
    if(DYETRACE_UNITY_TESTS GREATER 1)
        _paths_below_src(paths sources ${ARGN})
        set(number 0)
        _unities(sources number ${name} ${DYETRACE_UNITY_TESTS} ${paths})
    endif()
    set(${result} ${sources} PARENT_SCOPE)
endfunction()

# What #include finds from src/ of these files, and what is no C++ of the repository
function(_paths_below_src paths_name others_name)
    set(below "")
    set(left "")
    foreach(source IN LISTS ARGN)
        get_filename_component(absolute "${source}" ABSOLUTE)
        file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}/src" "${absolute}")
        if(path MATCHES "^(\\.\\./test/|[a-z]).*/[^/]+\\.cpp$")
            list(APPEND below "${path}")
        else()
            list(APPEND left "${source}")
        endif()
    endforeach()
    set(${paths_name} ${below} PARENT_SCOPE)
    set(${others_name} ${left} PARENT_SCOPE)
endfunction()

# Appends to a list of sources the files that include at_once of these each.
function(_unities sources_name number_name name at_once)
    set(files ${ARGN})
    set(made ${${sources_name}})
    set(next ${${number_name}})
    while(files)
        list(SUBLIST files 0 ${at_once} batch)
        list(REMOVE_ITEM files ${batch})
        set(unity "${PROJECT_BINARY_DIR}/unity/${name}_${next}.cpp")
        list(TRANSFORM batch REPLACE "(.+)" "#include \"\\1\"\n")
        list(JOIN batch "" text)
        file(CONFIGURE OUTPUT "${unity}" CONTENT "${text}" @ONLY)
        list(APPEND made "${unity}")
        math(EXPR next "${next} + 1")
    endwhile()
    set(${sources_name} ${made} PARENT_SCOPE)
    set(${number_name} ${next} PARENT_SCOPE)
endfunction()
