// What a program ends with when it could not do what was asked.
#pragma once

#include "base/result.h"

namespace dyetrace::apps {

inline constexpr int kExitFailure = 1;  // it could not be done, or not whole
inline constexpr int kExitUsage = 2;    // the command line was not understood

// For an error that was said: what makes no sense counts as not understood.
inline int exit_status_of(const Error& error) {
    return error.code() == ErrorCode::kInvalidArgument ? kExitUsage : kExitFailure;
}

}  // namespace dyetrace::apps
