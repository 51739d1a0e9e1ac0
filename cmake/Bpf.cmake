# BPF C to a header that C++ can load.
#
#   add_bpf_skeleton(NAME dyetrace SOURCES open.bpf.c write.bpf.c [DEFINES WITH_THIS])
#
#   write.bpf.c --clang -target bpf--> write.bpf.o --bpftool gen object--> dyetrace.bpf.o
#                                                  --bpftool gen skeleton--> <build>/generated/kernel/dyetrace.skel.h
#
# and a target dyetrace_kernel to link: it brings that header as a system include, libbpf, libelf and zlib.
# The folder of the caller names the target and the folder below generated/. A changed header recompiles what
# included it. Headers are included from src/, as in C++: #include "kernel/kernel_types.h".

find_program(BPF_CLANG NAMES clang-14 clang-15 clang-16 clang-17 clang-18 clang-19 clang REQUIRED)
find_program(BPFTOOL bpftool HINTS /usr/sbin /sbin REQUIRED)

set(bpf_architecture_x86_64 x86)
set(bpf_architecture_aarch64 arm64)
set(BPF_FLAGS
    -target bpf -mcpu=v3 -O2 -g -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Werror
    -D__TARGET_ARCH_${bpf_architecture_${CMAKE_SYSTEM_PROCESSOR}}
    -I${PROJECT_SOURCE_DIR}/src
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}/= # the line information is loaded with the programs: no path of the build in it
    -idirafter ${CMAKE_SYSROOT}/usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
foreach(directory IN LISTS libbpf_INCLUDE_DIRS)
    list(APPEND BPF_FLAGS -isystem ${directory})
endforeach()

function(add_bpf_skeleton)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SOURCES;DEFINES")
    list(TRANSFORM arg_DEFINES PREPEND -D)
    get_filename_component(folder "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
    set(skeleton "${PROJECT_BINARY_DIR}/generated/${folder}/${arg_NAME}.skel.h")
    set(linked "${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}.bpf.o")

    set(objects "")
    foreach(source IN LISTS arg_SOURCES)
        get_filename_component(source "${source}" ABSOLUTE)
        get_filename_component(stem "${source}" NAME_WLE)
        set(object "${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}_parts/${stem}.o")
        add_custom_command(
            OUTPUT "${object}"
            COMMAND "${CMAKE_COMMAND}" -E make_directory "${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}_parts"
            COMMAND "${BPF_CLANG}" ${BPF_FLAGS} ${arg_DEFINES} -MMD -MF "${object}.d" -MT "${object}" -c "${source}" -o "${object}"
            DEPENDS "${source}"
            DEPFILE "${object}.d"
            COMMENT "BPF ${folder}/${stem} ${arg_DEFINES}"
            VERBATIM)
        list(APPEND objects "${object}")
    endforeach()

    file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/generated/${folder}")
    add_custom_command(
        OUTPUT "${skeleton}" "${linked}"
        COMMAND "${BPFTOOL}" gen object "${linked}" ${objects}
        COMMAND "${BPFTOOL}" gen skeleton "${linked}" name "${arg_NAME}_bpf" > "${skeleton}.new"
        COMMAND "${CMAKE_COMMAND}" -E rename "${skeleton}.new" "${skeleton}"
        DEPENDS ${objects}
        COMMENT "BPF skeleton ${folder}/${arg_NAME}.skel.h"
        VERBATIM)
    add_custom_target(${arg_NAME}_skeleton DEPENDS "${skeleton}")

    if(NOT TARGET dyetrace_${folder})
        add_library(dyetrace_${folder} INTERFACE)
        target_include_directories(dyetrace_${folder} SYSTEM INTERFACE "${PROJECT_BINARY_DIR}/generated")
        target_link_libraries(dyetrace_${folder} INTERFACE PkgConfig::libbpf PkgConfig::libelf PkgConfig::zlib)
    endif()
    add_dependencies(dyetrace_${folder} ${arg_NAME}_skeleton)
endfunction()
