// Names that may come from outside and become names of folders.
#pragma once

#include <string_view>

namespace dyetrace::transport {

// Up to kNameBytesMax letters, digits, '.', '_' and '-', not begun by a dot or a dash: hosts, sessions, traces.
bool is_plain_name(std::string_view name);

}  // namespace dyetrace::transport
