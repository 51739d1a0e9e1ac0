// A dye as people give it, and the forms in which it may turn up.
//
//   TRY(Dye dye, parse_dye("card=4929123456781234", kPlain | kBase64));
//   dye.name "card", dye.text "4929123456781234"
//   TRY(patterns_of(1, dye))    "4929123456781234", "NDkyOTEyMzQ1Njc4MTIzN", "5MjkxMjM0NTY3ODEyMz", "0OTI5MTIzNDU2NzgxMjM0"
//
//   plain     the bytes                       hex       two digits each, small or capital
//   nocase    the same with ASCII letters     utf16le   as Windows and Java write text
//             small or capital
//   base64_N  after N (mod 3)  other bytes:   url       %20 or +, digits small or capital
//             what is the same whatever they  json      \" \\ \n \u00e9
//             and those after are
//
// A form that is the same as plain is left out. Limits: a text of 4 to 256 bytes, and 256 in each form; a name of 1 to 64.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "capture/dye_table.h"

namespace dyetrace::capture {

inline constexpr std::size_t kDyeNameBytesMax = 64;  // a column on a terminal

// A bit per schema::DyeForm.
using DyeForms = std::uint32_t;

constexpr DyeForms form_bit(schema::DyeForm form) {
    return DyeForms{1} << static_cast<unsigned>(form);
}

struct Dye {
    std::string name;
    std::string text;
    DyeForms forms = form_bit(schema::DyeForm::kPlain);
};

// "plain,base64", "all"; plain is always one of them.
Result<DyeForms> parse_dye_forms(std::string_view text);

// "plain,base64_0"
std::string dye_forms_text(DyeForms forms);

// NAME=TEXT, NAME=hex:DIGITS, NAME=@FILE (all of it, but one line end).
Result<Dye> parse_dye(const std::string& spec, DyeForms forms);

// No two of them are the same. kInvalidArgument says which form has too many bytes.
Result<std::vector<DyePattern>> patterns_of(std::uint32_t id, const Dye& dye);

}  // namespace dyetrace::capture
