// Looks through the payload of a trace (--content=bytes) for a text.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace dyetrace::query {

// found(event, position): the text begins there in what the event moved; occurrences may overlap. Nothing is found over the border of two
// calls. A trace without payload has nothing.
Result<void> search_payload(const std::string& trace_path,
                            std::string_view text,
                            const std::function<void(std::uint64_t, std::uint64_t)>& found);

}  // namespace dyetrace::query
