#include "probes/named_values.h"

#include <fmt/format.h>

#include <string_view>

#include "probes/near_names.h"

namespace dyetrace::probes {

Result<ProbeValue> value_named(const NamedValues& values,
                               const std::string& name,
                               const std::string& of) {
    std::vector<std::string_view> names;
    for (const NamedValue& each : values.values) {
        if (each.name == name) {
            return each.value;
        }
        names.push_back(each.name);
    }
    for (const LeftOutValue& each : values.left_out) {
        if (each.name == name) {
            return Error(ErrorCode::kUnsupported,
                         fmt::format("'{}' of {} cannot be read: {}", name, of, each.reason));
        }
    }
    return Error(ErrorCode::kNotFound,
                 fmt::format("{} has no '{}'{}", of, name, perhaps(name, names)));
}

}  // namespace dyetrace::probes
