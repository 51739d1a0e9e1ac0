// `arguments` of calls and of signals in C++, for SQL: what the macros _arguments_text and _signal_words of prelude.sql say, an order of magnitude sooner, and
// without the tables of words that those need, which take longer to make than most questions.
//
//   _arguments_json(abi, syscall, argument0, …, argument5, name, name2)                       {"flags":"O_RDONLY","mode":"000"}
//   _signal_json(signal, code, pid, uid, status, utime, stime, timer, overrun, value, address)  {"signal":"SIGCHLD","code":"CLD_EXITED",…}
//
// Whoever reads a trace without this program has the macros: views.sql.
#pragma once

#include "base/result.h"
#include "store/duckdb_engine.h"

namespace dyetrace::store {

Result<void> register_argument_functions(const Engine& engine);

// Runs after macros_sql() and before public_sql(): views are made with the functions.
inline constexpr const char* kArgumentsByFunction =
    "CREATE OR REPLACE VIEW internal.syscalls AS FROM _numbered_calls();\n"
    "CREATE OR REPLACE VIEW internal.signal_sets AS SELECT NULL AS signals, NULL AS codes;\n"
    "CREATE OR REPLACE MACRO _signal_text(signals, codes, signal, code, pid, uid, status, utime, "
    "stime, timer, overrun, v, address) AS "
    "_signal_json(signal, code, pid, uid, status, utime, stime, timer, overrun, v, address);\n"
    "CREATE OR REPLACE MACRO _arguments(abi, syscall, labels, types, sets, pair, choices, a0, a1, "
    "a2, a3, a4, a5, name, name2) AS "
    "_arguments_json(abi, syscall, a0, a1, a2, a3, a4, a5, name, name2);\n";

}  // namespace dyetrace::store
