# The files of one folder compiled as one: the headers that they share are read once, not once per file.
#
#   unity_sources(sources trace segment_reader.cpp segment_writer.cpp)
#
#   <build>/unity/trace_0.cpp      #include "trace/segment_reader.cpp"        DYETRACE_UNITY of them at most, all of the same
#                                  #include "trace/segment_writer.cpp"        folder; what is not C++ of src/ stays as it is
#
# sets `sources` to what the target trace compiles; with DYETRACE_UNITY=1 these are the files themselves, so that a change of one
# compiles one. Paths are relative to src/, so that worktrees share what the compiler's cache holds.
#
# Files that are compiled as one share their anonymous namespaces: what two files of a folder need has one home, what only
# sounds alike has two names.

set(DYETRACE_UNITY 1 CACHE STRING "How many files of a folder are compiled as one: a whole build is faster, a change of one file slower")

function(unity_sources result name)
    set(sources ${ARGN})
    if(DYETRACE_UNITY GREATER 1)
        set(sources "")
        set(folders "")
        foreach(source IN LISTS ARGN)
            get_filename_component(path "${source}" ABSOLUTE)
            file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}/src" "${path}")
            if(path MATCHES "^([a-z].*)/[^/]+\\.cpp$")
                list(APPEND folders "${CMAKE_MATCH_1}")
                list(APPEND "files_${CMAKE_MATCH_1}" "${path}")
            else()
                list(APPEND sources "${source}")
            endif()
        endforeach()
        list(REMOVE_DUPLICATES folders)
        set(number 0)
        foreach(folder IN LISTS folders)
            while(files_${folder})
                list(SUBLIST files_${folder} 0 ${DYETRACE_UNITY} batch)
                list(REMOVE_ITEM files_${folder} ${batch})
                set(unity "${PROJECT_BINARY_DIR}/unity/${name}_${number}.cpp")
                list(TRANSFORM batch REPLACE "(.+)" "#include \"\\1\"\n")
                list(JOIN batch "" text)
                file(CONFIGURE OUTPUT "${unity}" CONTENT "${text}" @ONLY)
                list(APPEND sources "${unity}")
                math(EXPR number "${number} + 1")
            endwhile()
        endforeach()
    endif()
    set(${result} ${sources} PARENT_SCOPE)
endfunction()
