#include "base/check.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace dyetrace::base {
namespace {

// The compiler's spelling depends on the build folder; people know the path from src/ on.
std::string_view path_in_the_house(std::string_view path) {
    const size_t house = path.rfind("src/");
    return house == std::string_view::npos ? path : path.substr(house);
}

}  // namespace

void check_failed(const char* file,
                  int line,
                  std::string_view condition,
                  std::string_view message) {
    const std::string text = fmt::format("dyetrace: {}:{}: {} failed{}{}\n",
                                         path_in_the_house(file),
                                         line,
                                         condition,
                                         message.empty() ? "" : ": ",
                                         message);
    std::fputs(text.c_str(), stderr);
    std::abort();
}

}  // namespace dyetrace::base
