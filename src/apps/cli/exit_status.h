// What a program ends with when it could not do what was asked.
#pragma once

namespace dyetrace::apps {

inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;  // the command line was not understood

}  // namespace dyetrace::apps
