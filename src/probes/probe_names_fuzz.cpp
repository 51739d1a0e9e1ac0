// Any bytes as the name of a probe: it is refused in words, or its text is the same probe again.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "probes/probe_names.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace dyetrace::probes;
    const auto name = parse_probe_name({reinterpret_cast<const char*>(data), size});
    if (!name.ok()) {
        CHECK(!name.error().text().empty());
        return 0;
    }
    const auto again = parse_probe_name(to_text(name.value()));
    CHECK(again.ok());
    CHECK(again.value() == name.value());
    return 0;
}
