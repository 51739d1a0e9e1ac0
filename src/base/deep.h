// How much a test tries: some, or under `./check --all`, which sets DYETRACE_DEEP, more.
//
//   for (unsigned seed = 1; seed <= deep(50u, 200u); ++seed)
#pragma once

#include <cstdlib>

namespace dyetrace::base {

template <typename Number>
Number deep(Number usual, Number more) {
    static const bool is_deep = std::getenv("DYETRACE_DEEP") != nullptr;
    return is_deep ? more : usual;
}

}  // namespace dyetrace::base
