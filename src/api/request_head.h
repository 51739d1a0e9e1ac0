// Whether a request may be asked, told by its first lines alone (gate.h): nobody has read more of it.
#pragma once

#include <string_view>

namespace dyetrace::api {

// 0, or the status of HTTP that it is refused with. `head` ends with its empty line; `prefix` is "/TOKEN/".
int refusal_of(std::string_view head, std::string_view prefix);

}  // namespace dyetrace::api
