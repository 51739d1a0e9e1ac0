#include "schema/errors.h"

namespace dyetrace::schema {

std::string error_name(std::int64_t result) {
    constexpr std::int64_t kErrorMax = 4095;  // MAX_ERRNO of include/linux/err.h
    if (result >= 0 || result < -kErrorMax) {
        return {};
    }
    for (const ErrorInfo& error : errors()) {
        if (error.number == -result) {
            return std::string(error.name);
        }
    }
    return "E" + std::to_string(-result);
}

}  // namespace dyetrace::schema
