// Our mistakes abort.
//
//   CHECK(begin <= end);
//   CHECK(begin <= end, fmt::format("segment {} runs backwards", id));   built on failure only
//   DCHECK(index < size);                                                in per-event loops: not
//                                                                        evaluated with NDEBUG
//
// prints `dyetrace: src/trace/segment.cpp:71: CHECK(begin <= end) failed: segment 7 runs backwards`
// and aborts. Never for what a kernel, disk, network or user can cause: that is a Result
// (base/result.h).
#pragma once

#include <string_view>

namespace dyetrace::base {

[[noreturn]] void check_failed(const char* file,
                               int line,
                               std::string_view condition,
                               std::string_view message = {});

}  // namespace dyetrace::base

#define CHECK(condition, ...)                                                            \
    do {                                                                                 \
        if (!(condition)) [[unlikely]]                                                   \
            ::dyetrace::base::check_failed(                                              \
                __FILE__, __LINE__, "CHECK(" #condition ")" __VA_OPT__(, ) __VA_ARGS__); \
    } while (false)

#ifdef NDEBUG
#define DCHECK(condition, ...)                                  \
    do {                                                        \
        if (false) CHECK(condition __VA_OPT__(, ) __VA_ARGS__); \
    } while (false)
#else
#define DCHECK(condition, ...) CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#endif
