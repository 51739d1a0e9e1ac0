// What most files of the house include, read by the compiler once; see cmake/Precompiled.cmake. A file still includes what it uses.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#if FMT_VERSION < 100000
// The heart of {fmt}, which the compiler would otherwise make anew in every file that formats; base/fmt_heart.cpp has it, and
// {fmt} itself from 10 on.
extern template void fmt::detail::vformat_to<char>(
    fmt::detail::buffer<char>&, fmt::string_view, fmt::format_args, fmt::detail::locale_ref);
#endif
