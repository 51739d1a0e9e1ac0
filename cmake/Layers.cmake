# One folder of src/ = one target, one test program, one benchmark program.
#
#   add_layer(trace
#       SOURCES   segment_reader.cpp segment_writer.cpp
#       TESTS     segment_reader_test.cpp segment_writer_test.cpp
#       FUZZERS   segment_reader_fuzz.cpp
#       BENCHES   segment_writer_bench.cpp
#       DEPENDS   base schema
#       LIBRARIES PkgConfig::zstd)
#
# makes the static library dyetrace_trace (header-only without SOURCES and COLD; unity_sources() of
# cmake/Unity.cmake says how they are compiled), tests/trace_test, and with
# DYETRACE_BENCH bench/trace_bench, which no test runs. COLD are sources that run once per command, process or answer, and are
# compiled in less time (cmake/Flags.cmake).
# A fuzz target is a test of its corpus (test/corpus/segment_reader_fuzz, test/fuzz/corpus_main.cpp), or with DYETRACE_FUZZ (Clang)
# fuzz/segment_reader_fuzz. DEPENDS are layers, LIBRARIES are CMake targets.
# TESTS run without root, network or BPF; the ones that cannot go to ROOT_TESTS: program tests/trace_root_test,
# ctest label `root`. What crosses folders has no layer and calls add_test_program itself:
#
#   add_test_program(kernel_test SOURCES write_test.cpp DEPENDS capture LABEL root)

function(add_layer name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;COLD;TESTS;ROOT_TESTS;BENCHES;FUZZERS;DEPENDS;LIBRARIES")
    _refuse_unknown(add_layer "${arg_UNPARSED_ARGUMENTS}")
    set(target dyetrace_${name})
    if(arg_SOURCES OR arg_COLD)
        unity_sources(sources ${name} ${arg_SOURCES})
        unity_sources(cold ${name}_cold ${arg_COLD})
        set_source_files_properties(${cold} PROPERTIES COMPILE_OPTIONS "${DYETRACE_COLD_OPTIONS}")
        add_library(${target} STATIC ${sources} ${cold})
        set(scope PUBLIC)
        target_link_libraries(${target} PRIVATE dyetrace_flags)
        precompile(${target})
    else()
        add_library(${target} INTERFACE)
        set(scope INTERFACE)
    endif()
    target_include_directories(${target} ${scope}
        "${PROJECT_SOURCE_DIR}/src" "${PROJECT_BINARY_DIR}/generated")
    list(TRANSFORM arg_DEPENDS PREPEND dyetrace_)
    target_link_libraries(${target} ${scope} ${arg_DEPENDS} ${arg_LIBRARIES})

    if(arg_TESTS)
        add_test_program(${name}_test SOURCES ${arg_TESTS} DEPENDS ${name})
    endif()
    if(arg_ROOT_TESTS)
        add_test_program(${name}_root_test SOURCES ${arg_ROOT_TESTS} DEPENDS ${name} LABEL root)
    endif()
    foreach(fuzzer IN LISTS arg_FUZZERS)
        get_filename_component(program "${fuzzer}" NAME_WE)
        if(DYETRACE_FUZZ)
            add_executable(${program} ${fuzzer})
            set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
            target_link_libraries(${program} PRIVATE ${target} dyetrace_flags -fsanitize=fuzzer)
        elseif(DYETRACE_TESTS)
            add_executable(${program} ${fuzzer} $<TARGET_OBJECTS:dyetrace_corpus_main>)
            set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
            target_link_libraries(${program} PRIVATE ${target} dyetrace_flags)
            target_compile_options(${program} PRIVATE ${DYETRACE_TEST_OPTIONS})
            precompile_test(${program})
            add_test(NAME corpus.${program} COMMAND ${program} "${PROJECT_SOURCE_DIR}/test/corpus/${program}")
            set_tests_properties(corpus.${program} PROPERTIES TIMEOUT 600)
        endif()
    endforeach()
    if(arg_BENCHES AND DYETRACE_BENCH)
        add_executable(${name}_bench ${arg_BENCHES})
        set_target_properties(${name}_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench")
        target_link_libraries(${name}_bench PRIVATE
            ${target} dyetrace_flags benchmark::benchmark benchmark::benchmark_main)
    endif()
endfunction()

# A GoogleTest program. ctest lists its suites as <program>.<Suite>, found when ctest starts.
function(add_test_program program)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT;LABEL" "SOURCES;DEPENDS;LIBRARIES")
    _refuse_unknown(add_test_program "${arg_UNPARSED_ARGUMENTS}")
    if(NOT DYETRACE_TESTS OR (NOT DYETRACE_ROOT_TESTS AND "${arg_LABEL}" STREQUAL root))
        return()
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 300) # seconds of a suite that hangs; on a free machine all of them fit into a minute
    endif()
    if(DYETRACE_SANITIZE)
        math(EXPR arg_TIMEOUT "10 * ${arg_TIMEOUT}")
    endif()
    set(properties TIMEOUT ${arg_TIMEOUT})
    if(arg_LABEL)
        list(APPEND properties LABELS ${arg_LABEL})
    endif()
    list(TRANSFORM arg_DEPENDS PREPEND dyetrace_)
    unity_tests(sources ${program} ${arg_SOURCES})
    add_executable(${program} ${sources})
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    target_link_libraries(${program} PRIVATE
        ${arg_DEPENDS} ${arg_LIBRARIES} dyetrace_flags GTest::gtest GTest::gtest_main)
    target_compile_options(${program} PRIVATE ${DYETRACE_TEST_OPTIONS})
    precompile_test(${program})
    set(suites "${CMAKE_CURRENT_BINARY_DIR}/${program}_suites.cmake")
    file(GENERATE OUTPUT "${suites}" CONTENT
        "include(\"${PROJECT_SOURCE_DIR}/cmake/SuiteTests.cmake\")\nadd_suites(${program} \"$<TARGET_FILE:${program}>\" EMULATOR ${CMAKE_CROSSCOMPILING_EMULATOR} PROPERTIES ${properties})\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${suites}")
endfunction()

function(_refuse_unknown function arguments)
    if(arguments)
        message(FATAL_ERROR "${function}: unknown arguments: ${arguments}")
    endif()
endfunction()

