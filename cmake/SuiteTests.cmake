# Run by ctest when it starts: a test per suite of a GoogleTest program, <program>.<Suite>. Tests of a suite share a process, and so what
# is loaded or opened once for all of them; ctest's output names the ones that failed (tools/failed_tests).
#
#   add_suites(<program> <path> EMULATOR <command of another machine's programs> PROPERTIES …)
function(add_suites program path)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "EMULATOR;PROPERTIES")
    if(NOT EXISTS "${path}")
        add_test("${program}_not_built" "${program}_not_built")
        return()
    endif()
    execute_process(COMMAND ${arg_EMULATOR} "${path}" --gtest_list_tests OUTPUT_VARIABLE listed RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${path} does not say its tests: ${status}")
    endif()
    string(REGEX MATCHALL "(^|\n)[^ \n]+\\." suites "${listed}")
    foreach(suite IN LISTS suites)
        string(STRIP "${suite}" suite) # with its full stop
        string(REGEX REPLACE "\\.$" "" name "${program}.${suite}")
        string(REPLACE "/" "." name "${name}")
        add_test("${name}" ${arg_EMULATOR} "${path}" "--gtest_filter=${suite}*")
        set_tests_properties("${name}" PROPERTIES ${arg_PROPERTIES})
    endforeach()
endfunction()
