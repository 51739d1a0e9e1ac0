// The word in the page's address that others do not know.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace dyetrace::api {

// The word is random; for a port that the user chose it is the same each time, so that an address
// that was kept, or a page that is open, works after a restart: it lies in $XDG_STATE_HOME/dyetrace
// or ~/.local/state/dyetrace, for this user only.
Result<std::string> page_token(std::uint16_t port);

}  // namespace dyetrace::api
