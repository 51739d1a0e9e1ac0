// Whether this program was built with a sanitizer. Tests that try a thing many times over do so less often there: a sanitizer looks for wrong
// accesses on each path, which a few rounds take as well, and makes each several times as slow.
//
//   for (int round = 0; round < (base::kIsSanitized ? 20 : 300); ++round)
#pragma once

namespace dyetrace::base {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

}  // namespace dyetrace::base
