// Bytes of programs quoted as strace does. Other text is made harmless by base/harmless.h.
//
//   append_quoted(out, "a\n\x1b[31m", 32)        "a\n\33[31m"              as strace
//   append_quoted(out, "0123456789", 4)          "0123"...
//   append_between(out, "/tmp/<x>")              /tmp/\74x\76              a name inside <…>, as strace -y
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dyetrace::format {

// How bytes that are no printable ASCII are shown: -x and -xx.
enum class Quotes : std::uint8_t {
    kEscapes,   // \n, \t, … and octal
    kHexIfAny,  // the whole string in hexadecimal if one byte is neither printable nor white space
    kHex,       // every string
};

// Appends at most `bytes_max` bytes of it in quotes, then "..." if there are more (or `cut` says so). Bytes that are not
// printable ASCII are \n, \t, … or octal with no more digits than needed.
void append_quoted(std::string& out,
                   std::string_view bytes,
                   std::size_t bytes_max,
                   bool cut = false,
                   Quotes quotes = Quotes::kEscapes);

// Without quotes, `<` and `>` escaped too.
void append_between(std::string& out, std::string_view bytes);

}  // namespace dyetrace::format
