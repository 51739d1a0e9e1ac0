// The key of fingerprints as people give it: hex:0123… or @FILE.
#pragma once

#include <string>

#include "base/result.h"
#include "content/fingerprint.h"

namespace dyetrace::content {

// `hex:` and 32 digits, or `@` and a file that holds 16 bytes or 32 digits. The first byte is the lowest of half[0].
Result<ContentKey> content_key(const std::string& text);

// One that nobody has.
Result<ContentKey> random_content_key();

}  // namespace dyetrace::content
