// Bytes of programs as words that do no harm on a terminal.
//
//   append_quoted(out, "a\n\x1b[31m", 32)        "a\n\33[31m"              as strace
//   append_quoted(out, "0123456789", 4)          "0123"...
//   append_between(out, "/tmp/<x>")              /tmp/\74x\76              a name inside <…>, as strace -y
//   make_harmless("name\x1b[2J")                 name\x1b[2J               text of tables and messages
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dyetrace::format {

// In quotes, at most `bytes_max` bytes of it, then "..." if there are more (or `cut` says so). Bytes that are not
// printable ASCII are \n, \t, … or octal with no more digits than needed.
void append_quoted(std::string& out,
                   std::string_view bytes,
                   std::size_t bytes_max,
                   bool cut = false);

// Without quotes, `<` and `>` escaped too.
void append_between(std::string& out, std::string_view bytes);

// A JSON string of valid UTF-8 (schema::escaped makes it so), with quotes.
void append_json_string(std::string& out, std::string_view text);

// Valid UTF-8 for a terminal or a log: control characters (C0, DEL, C1) and bidirectional overrides become \xHH per
// byte; bytes that are no UTF-8 as well. Text that is harmless stays as it is, so it does no harm twice.
std::string make_harmless(std::string_view bytes);

}  // namespace dyetrace::format
