// Any bytes as the format of a tracepoint: what can be read of it lies in a record.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "probes/tracepoint_format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace dyetrace::probes;
    for (const std::string_view category : {"sched", "syscalls"}) {
        const auto tracepoint =
            parse_tracepoint_format(category, {reinterpret_cast<const char*>(data), size});
        if (!tracepoint.ok()) {
            CHECK(!tracepoint.error().text().empty());
            continue;
        }
        for (const NamedValue& field : tracepoint.value().fields.values) {
            CHECK(!field.name.empty());
            CHECK(field.value.number >= 8);
            CHECK(field.value.bytes > 0);
            CHECK(field.value.number + field.value.bytes <= kRecordBytesMax);
        }
        for (const LeftOutValue& field : tracepoint.value().fields.left_out) {
            CHECK(!field.reason.empty());
        }
    }
    return 0;
}
