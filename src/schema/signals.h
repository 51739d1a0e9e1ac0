// A signal in words: the public column `arguments` of a signal_event, and what its code means.
//
//   {"signal":"SIGUSR1","code":"SI_USER","pid":4711,"uid":0}
//   {"signal":"SIGSEGV","code":"SEGV_MAPERR","address":"0x10"}
//
// The macro _signal_text of prelude.sql does the same in SQL.
#pragma once

#include <cstdint>
#include <string>

#include "schema/generated/records.h"

namespace dyetrace::schema {

// What the flag set signal_code names: codes of one signal only come with its number.
std::uint64_t signal_code(std::uint32_t signal, std::int32_t code);

void append_signal_json(std::string& out, const SignalEvent& event);

}  // namespace dyetrace::schema
