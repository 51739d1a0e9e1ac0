#include <fmt/format.h>

#if FMT_VERSION < 100000
// For cmake/precompiled.h, which keeps other files from making it again: a quarter of their compiler's time.
template void fmt::detail::vformat_to<char>(fmt::detail::buffer<char>&,
                                            fmt::string_view,
                                            fmt::format_args,
                                            fmt::detail::locale_ref);
#endif
