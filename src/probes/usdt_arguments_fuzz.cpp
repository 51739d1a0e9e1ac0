// Any bytes as the arguments of a mark, for both machines: each is a value that a kernel program can read, or refused in words.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "probes/usdt_arguments.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace dyetrace::probes;
    for (const Machine machine : {Machine::kX86_64, Machine::kArm64}) {
        const MarkArguments arguments =
            mark_arguments({reinterpret_cast<const char*>(data), size}, machine);
        CHECK(arguments.values.size() + arguments.left_out.size() <= kMarkArgumentsMax);
        for (const NamedValue& each : arguments.values) {
            CHECK(each.value.start == ValueStart::kConstant || each.value.number % 8 == 0);
            CHECK(each.value.hops.size() <= 1);
            CHECK(each.value.bytes == 1 || each.value.bytes == 2 || each.value.bytes == 4 ||
                  each.value.bytes == 8);
        }
        for (const LeftOutValue& each : arguments.left_out) CHECK(!each.reason.empty());
    }
    return 0;
}
