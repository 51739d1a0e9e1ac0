# Headers that are compiled once for all folders, and once, with GoogleTest, for all test programs.
#
#   precompile(dyetrace_trace)
#   precompile_test(trace_test)
#
# The presets of Clang compile without: there each file shows that it includes what it uses.

function(precompile target)
    if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
        _use_headers(${target} dyetrace_precompiled)
    endif()
endfunction()

function(precompile_test target)
    if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
        _use_headers(${target} dyetrace_precompiled_tests)
        target_link_libraries(${target} PRIVATE GTest::gtest) # its definitions
    endif()
endfunction()

# A compiler takes such headers only where they are used as they were compiled: with the same options and definitions.
function(_use_headers target headers)
    target_precompile_headers(${target} REUSE_FROM ${headers})
    target_link_libraries(${target} PRIVATE fmt::fmt Threads::Threads)
endfunction()

function(_add_headers name)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    target_precompile_headers(${name} PRIVATE ${ARGN})
    target_link_libraries(${name} PRIVATE dyetrace_flags fmt::fmt Threads::Threads)
endfunction()

if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    set(headers "${PROJECT_SOURCE_DIR}/cmake/precompiled.h")
    add_library(dyetrace_precompiled STATIC "${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp")
    _add_headers(dyetrace_precompiled "${headers}")
    if(DYETRACE_TESTS)
        # a program, as -fPIE is another option than -fPIC
        add_executable(dyetrace_precompiled_tests "${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp")
        _add_headers(dyetrace_precompiled_tests "${headers}" <gtest/gtest.h>)
        target_link_libraries(dyetrace_precompiled_tests PRIVATE GTest::gtest)
        target_compile_options(dyetrace_precompiled_tests PRIVATE ${DYETRACE_TEST_OPTIONS})
    endif()
endif()
