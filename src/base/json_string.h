// Strings of JSON, the one place where they are written.
//
//   append_json_string(out, "a\"b\n\u202e")     "a\"b\n\u202E"       read back it is the same text
//   append_json_string(out, "a\xff")            "a\\xff"             a byte that is not UTF-8: JSON has no place for it
//
// What is harmful on a terminal (base/harmless.h) is written as \uXXXX, so that JSON may be shown anywhere and nothing is
// lost.
#pragma once

#include <string>
#include <string_view>

namespace dyetrace::base {

enum class JsonEscapes {
    kHarmful,   // what JSON requires and everything that is harmful
    kRequired,  // only what JSON requires: byte for byte what DuckDB's to_json makes of valid UTF-8
};

// Appends the text in quotes.
void append_json_string(std::string& out,
                        std::string_view text,
                        JsonEscapes escapes = JsonEscapes::kHarmful);

// JSON that somebody else wrote, which is valid: the same value on one line, with what is harmful as \uXXXX.
void append_harmless_json(std::string& out, std::string_view json);

}  // namespace dyetrace::base
