# How every C++ file of the house is compiled.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
# A test's own code is compiled often and runs once: what it tests is optimised, a third of its compiler's time is saved.
set(DYETRACE_TEST_OPTIONS $<$<CONFIG:Release>:-O0>)

# What runs once per command, process or answer, not per event or row: its compiler takes a third less time.
set(DYETRACE_COLD_OPTIONS $<$<CONFIG:Release>:-Og>)
# GCC takes precompiled headers only where options of the machine are as they were; newer ones choose these two by -O1 or -O2.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-munroll-only-small-loops DYETRACE_UNROLLS_SMALL_LOOPS)
if(DYETRACE_UNROLLS_SMALL_LOOPS)
    list(APPEND DYETRACE_COLD_OPTIONS "$<$<CONFIG:Release>:-munroll-only-small-loops;-mvzeroupper>")
endif()

# Our targets link this one; imported headers stay outside its warnings because they are system includes.
add_library(dyetrace_flags INTERFACE)
target_compile_options(dyetrace_flags INTERFACE
    -Wall -Wextra -Wconversion -Wshadow -Werror
    $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>) # false alarms in std::string::insert and + (GCC bug 105651)
# GCC sweeps its memory from 128 MB on, a tenth of its time where sixteen files are one; most of ours end before these 400.
target_compile_options(dyetrace_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=400000>)
# bpftool's skeletons say _Bool, which is a word of C; GCC's <stdbool.h> makes it one of C++, Clang's does not.
target_compile_definitions(dyetrace_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,Clang>:_Bool=bool>)
# A broken index is our mistake, and our mistakes abort, in every build.
target_compile_definitions(dyetrace_flags INTERFACE _GLIBCXX_ASSERTIONS)

set(DYETRACE_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=")
if(DYETRACE_SANITIZE)
    add_compile_options(-fsanitize=${DYETRACE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    # Where it was compiled stands in debug information: without it worktrees share what the cache holds.
    add_compile_options(-fdebug-prefix-map=${PROJECT_BINARY_DIR}=.)
    # The checks that a sanitizer inserts hide from GCC what is initialised: false alarms in <regex>.
    target_compile_options(dyetrace_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    add_link_options(-fsanitize=${DYETRACE_SANITIZE})
endif()

# One cache for all worktrees: paths below the source folder do not count. Its manual asks for the sloppiness and the option of
# GCC wherever headers are precompiled.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    foreach(language C CXX)
        set(CMAKE_${language}_COMPILER_LAUNCHER
            "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_SLOPPINESS=pch_defines,time_macros "${CCACHE}")
    endforeach()
    add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()
