// Any bytes as trace.json: it is refused, or what was read says the same when it is written and read again.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "trace/trace_info.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace dyetrace::trace;
    const auto info = parse_trace_info({reinterpret_cast<const char*>(data), size});
    if (info.ok()) {
        const std::string text = to_json(info.value());
        const auto again = parse_trace_info(text);
        CHECK(again.ok());
        CHECK(to_json(again.value()) == text);
    }
    return 0;
}
