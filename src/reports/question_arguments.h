// What `follow` and `verify-copies` are asked about, as people type it.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "schema/generated/records.h"

namespace dyetrace::reports {

struct FileRange {
    std::string path;
    std::uint64_t begin = 0, end = UINT64_MAX;  // bytes, the last one not included
};

// /a/b:100-200 and /a/b:100- name bytes of a file; whatever else ends so is its name. The path is made absolute.
Result<FileRange> file_range_in(const std::string& text);

// Decimal, or 0x and hexadecimal digits. `what` it is to be, for the message.
Result<std::uint64_t> number_in(const std::string& text, const char* what);
// Below zero, too, as SQL shows 64 bits.
Result<std::uint64_t> fingerprint_in(const std::string& text);

// certain, likely or possible.
Result<schema::Certainty> certainty_in(const std::string& text);

}  // namespace dyetrace::reports
